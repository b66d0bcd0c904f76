// The corpus: the documents of its engine, and its calls by group.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const HOME = "/home/provos";
export const SANDBOX = `${HOME}/.ironcurtain/sandbox`;

export function readCorpus(directory) {
  const text = (name) => readFileSync(join(directory, name), "utf8");
  const documents = {
    policy: text("compiled-policy.json"),
    annotations: text("tool-annotations.json"),
    lists: text("dynamic-lists.json"),
  };
  const lines = text("verdicts.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const groups = new Map();
  for (const { request, verdict } of lines) {
    const group = groups.get(request.serverName) ?? [];
    group.push({ request, verdict });
    groups.set(request.serverName, group);
  }
  return { documents, groups };
}
