import { announce, fill, h } from "../dom.js";
import type { Argument, Tool } from "../engine/protocol.js";
import type { Store } from "../state.js";
import { parseStrictly } from "../strict.js";

/** A call as the form reads it. Members that it does not know are kept. */
interface Call {
  readonly serverName?: unknown;
  readonly toolName?: unknown;
  readonly arguments?: unknown;
  readonly context?: unknown;
}

/** The call as fields, made from the annotation of its tool and the tool's schema. */
export class CallForm {
  readonly element = h("form", { class: "form", onsubmit: (event: Event) => event.preventDefault() });
  readonly #store: Store;
  #tools: readonly Tool[] = [];

  constructor(store: Store) {
    this.#store = store;
    store.subscribe((_, changed, source) => {
      // What is hidden is drawn when it is shown: there may be thousands of tools.
      if (changed.has("call") && source !== this && !this.element.hidden) {
        this.draw();
      }
    });
  }

  describe(tools: readonly Tool[]): void {
    if (tools !== this.#tools && JSON.stringify(tools) !== JSON.stringify(this.#tools)) {
      this.#tools = tools;
      if (!this.element.hidden) {
        this.draw();
      }
    }
  }

  /** Puts a path into the first argument that takes one. */
  use(path: string): void {
    const call = this.#read() ?? {};
    const tool = this.#tools.find((one) => one.server === call.serverName && one.tool === call.toolName);
    const argument = tool?.arguments.find(({ roles }) =>
      roles.some((role) => role.endsWith("-path") || role.endsWith("-history")),
    );
    if (argument === undefined) {
      announce("No argument of this tool is a path");
      return;
    }
    this.#write({ ...call, arguments: withMember(recordOf(call.arguments) ?? {}, argument.name, path) }, true);
    announce(`${argument.name} is ${path} now`);
  }

  draw(): void {
    const call = this.#read();
    if (call === undefined) {
      fill(
        this.element,
        h("p", { class: "quiet" }, "The text of the call is not one that can be judged. Its JSON says where."),
      );
      return;
    }
    const server = String(call.serverName ?? "");
    const name = String(call.toolName ?? "");
    const tool = this.#tools.find((one) => one.server === server && one.tool === name);
    const servers = [...new Set(this.#tools.map((one) => one.server))];
    const names = this.#tools.filter((one) => one.server === server).map((one) => one.tool);
    fill(
      this.element,
      h(
        "div",
        { class: "row" },
        this.#choice("Server", servers, server, (chosen) => {
          const toolName = this.#tools.find((one) => one.server === chosen)?.tool ?? "";
          this.#write({ ...call, serverName: chosen, toolName, arguments: {} }, true);
        }),
        this.#choice("Tool", names, name, (chosen) => {
          this.#write({ ...call, toolName: chosen, arguments: this.#kept(server, chosen, call) }, true);
        }),
      ),
      tool !== undefined && tool.comment !== "" && h("p", { class: "quiet" }, tool.comment),
      this.#arguments(call, tool),
      this.#context(call),
    );
  }

  /** The arguments that another tool has too. */
  #kept(server: string, name: string, call: Call): object {
    const tool = this.#tools.find((one) => one.server === server && one.tool === name);
    const known = new Set(tool?.arguments.map((argument) => argument.name));
    return Object.fromEntries(Object.entries(recordOf(call.arguments) ?? {}).filter(([key]) => known.has(key)));
  }

  #choice(label: string, names: readonly string[], chosen: string, choose: (name: string) => void): HTMLElement {
    const all = names.includes(chosen) ? names : [chosen, ...names];
    const options = all.map((name) => h("option", { value: name, selected: name === chosen }, name || "none"));
    const change = (event: Event) => choose((event.target as HTMLSelectElement).value);
    return h("label", { class: "field" }, h("span", {}, label), h("select", { onchange: change }, options));
  }

  #arguments(call: Call, tool: Tool | undefined): Node[] {
    const given = recordOf(call.arguments);
    if (given === undefined) {
      return [h("p", { class: "quiet" }, "The arguments are not an object. The JSON shows them.")];
    }
    const known = tool?.arguments ?? [];
    const others = Object.keys(given)
      .filter((name) => !known.some((argument) => argument.name === name))
      .map((name): Argument => ({ name, roles: [], isConditional: false, schema: {}, isRequired: false }));
    return [...known, ...others].map((argument) => this.#argument(argument, given, others.includes(argument)));
  }

  #argument(argument: Argument, given: Readonly<Record<string, unknown>>, isUnknown: boolean): HTMLElement {
    const { name, roles, isConditional, schema, isRequired } = argument;
    const id = `argument-${name}`;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const write = (next: unknown): void => {
      const call = this.#read();
      this.#write({ ...call, arguments: withMember(recordOf(call?.arguments) ?? {}, name, next) }, false);
    };
    const shown = roles.filter((role) => role !== "none");
    return h(
      "div",
      { class: "field" },
      h(
        "label",
        { for: id },
        h("span", { class: "argument" }, name),
        shown.map((role) => h("span", { class: "role" }, role)),
        isConditional && h("span", { class: "hint" }, "depends on other arguments"),
        isRequired && h("span", { class: "hint" }, "required"),
        isUnknown && h("span", { class: "hint" }, "not annotated"),
      ),
      field(id, schema, value, write),
    );
  }

  #context(call: Call): HTMLElement | false {
    if (
      call.context === undefined &&
      !this.#tools.some((one) => one.arguments.some(({ roles }) => roles.includes("address")))
    ) {
      return false;
    }
    const write = (next: unknown): void => {
      this.#write(withMember(this.#read() ?? {}, "context", next), false);
    };
    return h(
      "div",
      { class: "field" },
      h(
        "label",
        { for: "context" },
        h("span", { class: "argument" }, "context"),
        h("span", { class: "hint" }, "what your program knows about the call; an agent cannot write it"),
      ),
      jsonField("context", call.context, write),
    );
  }

  #read(): Call | undefined {
    try {
      return recordOf(parseStrictly(this.#store.state.call));
    } catch {
      return undefined;
    }
  }

  #write(call: Call, redraw: boolean): void {
    this.#store.update({ call: JSON.stringify(call, null, 2) }, this);
    if (redraw) {
      const selects = (): HTMLElement[] => [...this.element.querySelectorAll("select")];
      const focused = selects().findIndex((one) => one === document.activeElement);
      this.draw();
      selects()[focused]?.focus();
    }
  }
}

/** A field for a value. What it cannot hold is written as JSON. */
function field(
  id: string,
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  write: (value: unknown) => void,
): HTMLElement {
  const isOf = (type: string) => value === undefined || typeof value === type;
  const choices = Array.isArray(schema.enum) ? schema.enum : schema.type === "boolean" ? [true, false] : undefined;
  if (choices?.some((choice) => choice === value) || (choices !== undefined && value === undefined)) {
    const options = [undefined, ...choices].map((choice) =>
      h(
        "option",
        { value: JSON.stringify(choice) ?? "", selected: choice === value },
        choice === undefined ? "absent" : String(choice),
      ),
    );
    const change = (event: Event) => {
      const { value } = event.target as HTMLSelectElement;
      write(value === "" ? undefined : JSON.parse(value));
    };
    return h("select", { id, onchange: change }, options);
  }
  if ((schema.type === "number" || schema.type === "integer") && isOf("number")) {
    const input = (event: Event) => {
      const { value } = event.target as HTMLInputElement;
      write(value === "" ? undefined : Number.isFinite(Number(value)) ? Number(value) : value);
    };
    return h("input", {
      id,
      inputmode: "decimal",
      autocomplete: "off",
      value: value === undefined ? "" : String(value),
      oninput: input,
    });
  }
  if ((schema.type === "string" || schema.type === undefined) && isOf("string")) {
    const input = (event: Event) => {
      const { value } = event.target as HTMLTextAreaElement;
      write(value === "" ? undefined : value);
    };
    const rows = typeof value === "string" && value.includes("\n") ? 4 : 1;
    return h("textarea", { id, rows, spellcheck: "false", autocomplete: "off", oninput: input, value: value ?? "" });
  }
  return jsonField(id, value, write);
}

/** A field for a value as JSON. What is not JSON yet, or may mean two values, is not written. */
function jsonField(id: string, value: unknown, write: (value: unknown) => void): HTMLElement {
  const text = value === undefined ? "" : JSON.stringify(value);
  const input = (event: Event) => {
    const area = event.target as HTMLTextAreaElement;
    let isJson = true;
    try {
      write(area.value.trim() === "" ? undefined : parseStrictly(area.value));
    } catch {
      isJson = false;
    }
    area.setAttribute("aria-invalid", String(!isJson));
  };
  return h("textarea", {
    id,
    class: "json",
    rows: text.length > 60 ? 3 : 1,
    spellcheck: "false",
    oninput: input,
    value: text,
  });
}

/** The object with another value under a name, in its place; without the name where there is no value. */
function withMember(object: object, name: string, value: unknown): object {
  const members: [string, unknown][] = Object.entries(object).map(([key, old]) => [key, key === name ? value : old]);
  const all = Object.hasOwn(object, name) ? members : [...members, [name, value] as [string, unknown]];
  return Object.fromEntries(all.filter(([, member]) => member !== undefined));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
