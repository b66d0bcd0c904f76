import { ARGUMENTS_SHOWN } from "../bounds.js";
import { announce, fill, h } from "../dom.js";
import type { Argument, Tool } from "../engine/protocol.js";
import type { Store } from "../state.js";
import { parseStrictly } from "../strict.js";
import { field, jsonField } from "./call-field.js";
import { type Members, membersIn, objectText, textOf, withMember } from "./members.js";

/** The call as fields, made from the annotation of its tool and the tool's schema. */
export class CallForm {
  readonly element = h("form", { class: "form", onsubmit: (event: Event) => event.preventDefault() });
  readonly #store: Store;
  #tools: readonly Tool[] = [];

  constructor(store: Store) {
    this.#store = store;
    store.subscribe((_, changed, source) => {
      // A hidden form is drawn when it is shown: there may be thousands of tools.
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
    const call = this.#read() ?? [];
    const [server, name] = namesOf(call);
    const tool = this.#tools.find((one) => one.server === server && one.tool === name);
    const argument = tool?.arguments.find(({ roles }) =>
      roles.some((role) => role.endsWith("-path") || role.endsWith("-history")),
    );
    if (argument === undefined) {
      announce("No argument of this tool is a path");
      return;
    }
    const args = withMember(argumentsOf(call) ?? [], argument.name, JSON.stringify(path));
    this.#write(withArguments(call, args), true);
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
    const [server, name] = namesOf(call);
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
          this.#write(withArguments(withNames(call, chosen, toolName), []), true);
        }),
        this.#choice("Tool", names, name, (chosen) => {
          this.#write(withArguments(withNames(call, server, chosen), this.#kept(server, chosen, call)), true);
        }),
      ),
      tool !== undefined && tool.comment !== "" && h("p", { class: "quiet" }, tool.comment),
      this.#arguments(call, tool),
      this.#context(call),
    );
  }

  /** The arguments that another tool has too. */
  #kept(server: string, name: string, call: Members): Members {
    const tool = this.#tools.find((one) => one.server === server && one.tool === name);
    const known = new Set(tool?.arguments.map((argument) => argument.name));
    return (argumentsOf(call) ?? []).filter(([key]) => known.has(key));
  }

  #choice(label: string, names: readonly string[], chosen: string, choose: (name: string) => void): HTMLElement {
    const all = names.includes(chosen) ? names : [chosen, ...names];
    const options = all.map((name) => h("option", { value: name, selected: name === chosen }, name || "none"));
    const change = (event: Event) => choose((event.target as HTMLSelectElement).value);
    return h("label", { class: "field" }, h("span", {}, label), h("select", { onchange: change }, options));
  }

  #arguments(call: Members, tool: Tool | undefined): Node[] {
    const given = argumentsOf(call);
    if (given === undefined) {
      return [h("p", { class: "quiet" }, "The arguments are not an object. The JSON shows them.")];
    }
    const texts = new Map(given);
    const known = tool?.arguments ?? [];
    const names = new Set(known.map(({ name }) => name));
    const others = [...texts.keys()]
      .filter((name) => !names.has(name))
      .map((name): Argument => ({ name, roles: [], isConditional: false, schema: {}, isRequired: false }));
    // Those that the call has come first where there are more than the form shows.
    const isGiven = ({ name }: Argument): boolean => texts.has(name);
    const all = [...known, ...others];
    const shown =
      all.length > ARGUMENTS_SHOWN
        ? [...all.filter(isGiven), ...all.filter((argument) => !isGiven(argument))].slice(0, ARGUMENTS_SHOWN)
        : all;
    const fields: Node[] = shown.map((argument) =>
      this.#argument(argument, texts.get(argument.name), !names.has(argument.name)),
    );
    if (shown.length < all.length) {
      const count = `${shown.length} of ${all.length.toLocaleString("en")} arguments are shown.`;
      fields.push(h("p", { class: "quiet" }, `${count} The JSON has all that the call has.`));
    }
    return fields;
  }

  #argument(argument: Argument, text: string | undefined, isUnknown: boolean): HTMLElement {
    const { name, roles, isConditional, schema, isRequired } = argument;
    const id = `argument-${name}`;
    const write = (next: string | undefined): void => {
      const call = this.#read() ?? [];
      this.#write(withArguments(call, withMember(argumentsOf(call) ?? [], name, next)), false);
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
      field(id, schema, text, write),
    );
  }

  #context(call: Members): HTMLElement | false {
    const text = textOf(call, "context");
    if (
      text === undefined &&
      !this.#tools.some((one) => one.arguments.some(({ roles }) => roles.includes("address")))
    ) {
      return false;
    }
    const write = (next: string | undefined): void => {
      this.#write(withMember(this.#read() ?? [], "context", next), false);
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
      jsonField("context", text, write),
    );
  }

  /** The members of the call, each as it is written: a value that is parsed might be another number. */
  #read(): Members | undefined {
    const { call } = this.#store.state;
    try {
      parseStrictly(call);
      return membersIn(call);
    } catch {
      return undefined;
    }
  }

  #write(call: Members, redraw: boolean): void {
    this.#store.update({ call: objectText(call) }, this);
    if (redraw) {
      const selects = (): HTMLElement[] => [...this.element.querySelectorAll("select")];
      const focused = selects().findIndex((one) => one === document.activeElement);
      this.draw();
      selects()[focused]?.focus();
    }
  }
}

/** The server and the tool of a call. */
function namesOf(call: Members): [server: string, tool: string] {
  const name = (key: string) => String(JSON.parse(textOf(call, key) ?? '""'));
  return [name("serverName"), name("toolName")];
}

function withNames(call: Members, server: string, tool: string): Members {
  return withMember(withMember(call, "serverName", JSON.stringify(server)), "toolName", JSON.stringify(tool));
}

/** The arguments; none if they are absent, `undefined` if they are not an object. */
function argumentsOf(call: Members): Members | undefined {
  return membersIn(textOf(call, "arguments") ?? "{}");
}

function withArguments(call: Members, args: Members): Members {
  return withMember(call, "arguments", objectText(args, "  "));
}
