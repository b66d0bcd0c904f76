// The package in Node: a line of standard input is a batch, a line of standard output its outcomes.
import { createInterface } from "node:readline";
import { run } from "./session.mjs";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  process.stdout.write(`${run(line)}\n`);
}
