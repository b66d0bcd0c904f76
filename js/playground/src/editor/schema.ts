/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schemas that hold at a path. Where one of several may hold, all of them do here: an editor offers everything. */
export function schemasAt(root: Schema, path: readonly (string | number)[]): Schema[] {
  let found = alternatives(root, root, 0);
  for (const step of path) {
    found = found.flatMap((schema) => below(schema, step)).flatMap((schema) => alternatives(root, schema, 0));
  }
  return found;
}

function below(schema: Schema, step: string | number): Schema[] {
  if (typeof step === "number") {
    const items = schema.items;
    return isSchema(items) ? [items] : [];
  }
  const properties = schema.properties;
  const own = isSchema(properties) && Object.hasOwn(properties, step) ? properties[step] : schema.additionalProperties;
  return isSchema(own) ? [own] : [];
}

/** The schema with what it refers to and offers as alternatives. */
function alternatives(root: Schema, schema: Schema, depth: number): Schema[] {
  if (depth > 8) {
    return [];
  }
  const nested = ["anyOf", "oneOf", "allOf"].flatMap((key) => {
    const list = schema[key];
    return Array.isArray(list) ? list.filter(isSchema) : [];
  });
  const reference = schema.$ref;
  if (typeof reference === "string") {
    const target = reference
      .slice(2)
      .split("/")
      .reduce<unknown>((place, name) => (isSchema(place) ? place[name] : undefined), root);
    if (isSchema(target)) {
      nested.push(target);
    }
  }
  return [schema, ...nested.flatMap((one) => alternatives(root, one, depth + 1))];
}

/** A key that may be written. */
export interface Key {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** The keys of objects. */
export function keysOf(schemas: readonly Schema[]): Key[] {
  const keys = new Map<string, Key>();
  for (const schema of schemas) {
    const { properties, required } = schema;
    for (const [name, of] of Object.entries(isSchema(properties) ? properties : {})) {
      const isRequired = Array.isArray(required) && required.includes(name);
      keys.set(name, { name, isRequired, description: describe(of), schema: isSchema(of) ? of : {} });
    }
  }
  return [...keys.values()];
}

/** The values that are listed, each with what is said of it. */
export function valuesOf(schemas: readonly Schema[]): { readonly value: unknown; readonly description: string }[] {
  const values = new Map<string, { value: unknown; description: string }>();
  for (const schema of schemas) {
    const { enum: list, const: only } = schema;
    for (const value of [...(Array.isArray(list) ? list : []), ...(only === undefined ? [] : [only])]) {
      values.set(JSON.stringify(value), { value, description: describe(schema) });
    }
    if (schema.type === "boolean") {
      for (const value of [true, false]) {
        values.set(String(value), { value, description: describe(schema) });
      }
    }
  }
  return [...values.values()];
}

/** The description in a schema. */
export function describe(schema: unknown): string {
  return isSchema(schema) && typeof schema.description === "string" ? schema.description : "";
}

/** A text to begin a value with. */
export function skeleton(root: Schema, schema: Schema): string {
  const types = alternatives(root, schema, 0).map((one) => one.type);
  const first = ["object", "array", "string"].find((type) => types.includes(type));
  return first === "object" ? "{}" : first === "array" ? "[]" : first === "string" ? '""' : "";
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
