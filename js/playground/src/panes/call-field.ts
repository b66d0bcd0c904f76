import { h } from "../dom.js";
import { parseStrictly } from "../strict.js";

type Write = (text: string | undefined) => void;

/** A field for a value, which is given and written as JSON text. What it cannot hold is written as JSON. */
export function field(
  id: string,
  schema: Readonly<Record<string, unknown>>,
  text: string | undefined,
  write: Write,
): HTMLElement {
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  const types = [schema.type].flat();
  const isOf = (type: string) => value === undefined || typeof value === type;
  const choices = Array.isArray(schema.enum) ? schema.enum : schema.type === "boolean" ? [true, false] : undefined;
  if (choices !== undefined && (value === undefined || choices.some((choice) => choice === value))) {
    return choiceField(id, choices, value, write);
  }
  if ((types.includes("number") || types.includes("integer")) && isOf("number")) {
    const input = (event: Event) => {
      const written = (event.target as HTMLInputElement).value.trim();
      write(written === "" ? undefined : isNumber(written) ? written : JSON.stringify(written));
    };
    return h("input", { id, inputmode: "decimal", autocomplete: "off", value: text ?? "", oninput: input });
  }
  if ((types.includes("string") || schema.type === undefined) && isOf("string")) {
    return textField(id, value as string | undefined, write);
  }
  return jsonField(id, text, write);
}

function choiceField(id: string, choices: readonly unknown[], value: unknown, write: Write): HTMLElement {
  const options = [undefined, ...choices].map((choice) =>
    h(
      "option",
      { value: JSON.stringify(choice) ?? "", selected: choice === value },
      choice === undefined ? "absent" : String(choice),
    ),
  );
  const change = (event: Event) => write((event.target as HTMLSelectElement).value || undefined);
  return h("select", { id, onchange: change }, options);
}

/** A text, which may be empty. What is left out is another thing than an empty text, so a button does that. */
function textField(id: string, value: string | undefined, write: Write): HTMLElement {
  const area = h("textarea", {
    id,
    rows: value?.includes("\n") === true ? 4 : 1,
    spellcheck: "false",
    autocomplete: "off",
    value: value ?? "",
  });
  const leaveOut = h(
    "button",
    { type: "button", class: "icon", "aria-label": `Leave out ${id.replace(/^argument-/, "")}` },
    "✕",
  );
  const show = (isThere: boolean): void => {
    area.placeholder = isThere ? "an empty text" : "absent";
    leaveOut.hidden = !isThere;
  };
  area.addEventListener("input", () => {
    show(true);
    write(JSON.stringify(area.value));
  });
  leaveOut.addEventListener("click", () => {
    area.value = "";
    show(false);
    write(undefined);
    area.focus();
  });
  show(value !== undefined);
  return h("div", { class: "with-button" }, area, leaveOut);
}

/** A field for a value as JSON. What is not JSON yet, or may mean two values, is not written. */
export function jsonField(id: string, text: string | undefined, write: Write): HTMLElement {
  const input = (event: Event) => {
    const area = event.target as HTMLTextAreaElement;
    let isJson = true;
    try {
      parseStrictly(area.value.trim() === "" ? "null" : area.value);
      write(area.value.trim() === "" ? undefined : area.value.trim());
    } catch {
      isJson = false;
    }
    area.setAttribute("aria-invalid", String(!isJson));
  };
  return h("textarea", {
    id,
    class: "json",
    rows: text !== undefined && text.length > 60 ? 3 : 1,
    spellcheck: "false",
    oninput: input,
    value: text ?? "",
  });
}

function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}
