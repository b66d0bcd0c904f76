// What is used of LangChain, whose package is not among ours. Whoever uses `callgate/langchain` has the real types.
declare module "langchain" {
  export interface ToolCallRequest {
    readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown };
    readonly runtime: {
      readonly interrupt?: ((value: unknown) => unknown) | undefined;
      readonly configurable?: { readonly thread_id?: unknown } | undefined;
    };
  }
  export interface AgentMiddleware {
    readonly name: string;
  }
  export class ToolMessage {
    constructor(fields: { content: string; tool_call_id: string; name: string; status: "error" });
  }
  export function createMiddleware(config: {
    name: string;
    wrapToolCall: (request: ToolCallRequest, handler: (request: ToolCallRequest) => unknown) => unknown;
  }): AgentMiddleware;
}
