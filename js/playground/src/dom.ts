type Child = Node | string | undefined | false;

/** The parts of an element that can be set: attributes, properties of forms, and listeners by `on…`. */
type Attributes = Readonly<Record<string, unknown>>;

/** Makes an element. Text is always text: nothing that a document or a link holds becomes markup. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Child | readonly Child[])[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) {
      continue;
    }
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value as EventListener);
    } else if (key === "value" || key === "checked" || key === "indeterminate") {
      Reflect.set(element, key, value);
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element of a drawing. */
export function svg(name: string, attributes: Attributes = {}, ...children: readonly Element[]): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: readonly (Child | readonly Child[])[]): void {
  element.replaceChildren();
  append(element, children);
}

function append(element: Element, children: readonly (Child | readonly Child[])[]): void {
  for (const child of children.flat()) {
    if (child !== undefined && child !== false) {
      element.append(child);
    }
  }
}

/** The element with an id, which the page has. */
export function byId<Found extends HTMLElement = HTMLElement>(id: string): Found {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page has no \`${id}\``);
  }
  return found as Found;
}

/** Says something to a screen reader, and shows it for a while. */
export function announce(text: string): void {
  const status = byId("announcement");
  status.textContent = text;
  status.classList.add("shown");
  setTimeout(() => {
    if (status.textContent === text) {
      status.textContent = "";
      status.classList.remove("shown");
    }
  }, 4000);
}
