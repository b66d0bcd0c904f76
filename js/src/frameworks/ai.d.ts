// What is used of the AI SDK, whose package is not among ours. Whoever uses `callgate/ai` has the real types.
declare module "ai" {
  type Validated = { readonly success: true; readonly value: unknown } | { readonly success: false };
  interface Schema {
    readonly jsonSchema: unknown;
    readonly validate?: ((value: unknown) => Validated | PromiseLike<Validated>) | undefined;
  }
  export function asSchema(schema: unknown): Schema;
  export function jsonSchema(
    schema: () => unknown,
    options: { readonly validate: (value: unknown) => Promise<Validated> },
  ): Schema;
}
