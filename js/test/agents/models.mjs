// Endpoints that speak as models do, and ask for the calls of a script instead of thinking.
import { createServer } from "node:http";

/**
 * Starts an endpoint. `script` has the calls; `results` are the tools' answers as the agent reports them, and `offered` the names
 * of the tools that it offers.
 */
export async function startModel(kind, script) {
  const model = { results: [], offered: [], at: 0 };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => KINDS[kind](model, script, request.url, body, response));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.url = `http://127.0.0.1:${server.address().port}`;
  model.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return model;
}

const KINDS = { anthropic, responses, gemini };

function json(response, value) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function stream(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

function keep(model, value) {
  model.results.push(typeof value === "string" ? value : JSON.stringify(value));
}

/** The next call, where the question offers tools. Agents ask models for titles and summaries too. */
function next(model, script, offered) {
  if (offered.length === 0) {
    return undefined;
  }
  model.offered = offered;
  const call = script[model.at];
  model.at += 1;
  return call;
}

function anthropic(model, script, url, body, response) {
  if (!url.includes("/v1/messages") || url.includes("count_tokens")) {
    return json(response, { input_tokens: 1 });
  }
  const asked = JSON.parse(body);
  const last = asked.messages?.at(-1)?.content;
  for (const part of Array.isArray(last) ? last : []) {
    if (part.type === "tool_result") {
      keep(model, part.content);
    }
  }
  const call = next(
    model,
    script,
    (asked.tools ?? []).map(({ name }) => name),
  );
  const content = call
    ? { type: "tool_use", id: `toolu_${model.at}`, name: call.name, input: call.input }
    : { type: "text", text: "done" };
  const stop_reason = call ? "tool_use" : "end_turn";
  const message = { id: `m${model.at}`, type: "message", role: "assistant", model: asked.model };
  const usage = { input_tokens: 1, output_tokens: 1 };
  if (!asked.stream) {
    return json(response, { ...message, content: [content], stop_reason, usage });
  }
  const send = stream(response);
  send("message_start", { message: { ...message, content: [], stop_reason: null, usage } });
  send("content_block_start", {
    index: 0,
    content_block: call ? { ...content, input: {} } : { type: "text", text: "" },
  });
  const delta = call
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text: content.text };
  send("content_block_delta", { index: 0, delta });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: { stop_reason }, usage });
  send("message_stop", {});
  response.end();
}

function responses(model, script, url, body, response) {
  if (!url.includes("/responses")) {
    return json(response, { data: [], models: [] });
  }
  const asked = JSON.parse(body);
  const outputs = (asked.input ?? []).filter(({ type }) => /_output$/.test(type));
  // All of them come with each question.
  model.results = outputs.map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output)));
  const call = next(
    model,
    script,
    (asked.tools ?? []).map(({ name, type }) => name ?? type),
  );
  const ids = { id: `i${model.at}`, call_id: `c${model.at}` };
  const item =
    call === undefined
      ? { type: "message", role: "assistant", id: ids.id, content: [{ type: "output_text", text: "done" }] }
      : typeof call.input === "string"
        ? { type: "custom_tool_call", ...ids, name: call.name, input: call.input }
        : {
            type: "function_call",
            ...ids,
            name: call.name,
            ...(call.namespace ? { namespace: call.namespace } : {}),
            arguments: JSON.stringify(call.input),
          };
  const send = stream(response);
  const id = `r${model.at}`;
  send("response.created", { response: { id } });
  send("response.output_item.added", { output_index: 0, item });
  send("response.output_item.done", { output_index: 0, item });
  const tokens = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null };
  send("response.completed", {
    response: {
      id,
      object: "response",
      status: "completed",
      model: asked.model,
      output: [{ status: "completed", ...item }],
      usage: { ...tokens, total_tokens: 2 },
    },
  });
  response.end();
}

function gemini(model, script, url, body, response) {
  if (!/enerateContent/.test(url)) {
    return json(response, { totalTokens: 1 });
  }
  const asked = JSON.parse(body);
  const offered = (asked.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name);
  for (const { functionResponse } of asked.contents?.at(-1)?.parts ?? []) {
    if (functionResponse) {
      keep(model, functionResponse.response);
    }
  }
  const isMain = offered.includes("run_shell_command");
  const call = next(model, script, isMain ? offered : []);
  const text = isMain ? "done" : JSON.stringify({ reasoning: "x", model_choice: "flash", next_speaker: "user" });
  const part = call ? { functionCall: { id: `f${model.at}`, name: call.name, args: call.input } } : { text };
  const answer = {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  if (!url.includes("stream")) {
    return json(response, answer);
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(answer)}\n\n`);
}
