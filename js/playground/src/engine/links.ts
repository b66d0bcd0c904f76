import type { Host } from "callgate";
import type { Walk } from "./protocol.js";

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

/** A path without `.`, `..` and `//`. */
export function lexical(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") {
      names.pop();
    } else if (name !== "" && name !== ".") {
      names.push(name);
    }
  }
  return `/${names.join("/")}`;
}

/** The path that a text stands for, seen from a directory. */
export function absolute(text: string, home: string, directory: string): string {
  if (text === "~" || text.startsWith("~/")) {
    return lexical(home + text.slice(1));
  }
  return lexical(text.startsWith("/") ? text : `${directory}/${text}`);
}

/** The links on the way from a path to what it is. */
export function followLinks(host: Host, path: string): Walk & { readonly end: string } {
  const links: { link: string; target: string }[] = [];
  const pending = path.split("/").reverse();
  let reached = "";
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") {
      continue;
    }
    if (name === "..") {
      reached = reached.slice(0, Math.max(0, reached.lastIndexOf("/")));
      continue;
    }
    const place = `${reached}/${name}`;
    const target = links.length < MAX_LINKS ? host.readLink(place) : undefined;
    if (target === undefined) {
      reached = place;
      continue;
    }
    links.push({ link: place, target });
    reached = target.startsWith("/") ? "" : reached;
    pending.push(...target.split("/").reverse());
  }
  return { links, end: reached === "" ? "/" : reached };
}
