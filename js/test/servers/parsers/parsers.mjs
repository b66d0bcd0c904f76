// What servers in other languages make of lines: programs that read with one parser each, and print a line for each line:
// `error`, or the method, the id, the tool, and the names of all arguments at any depth in order. A text is `t` and its bytes in
// hexadecimal digits, a number `n` and its digits, anything else `-`; names are bytes, with commas between them.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run, TARGET } from "../../tools/hosts.mjs";

const source = (name) => fileURLToPath(new URL(name, import.meta.url));
const BUILT = `${TARGET}/parsers`;

/** Debian's packages that the programs need. Python, Perl and a compiler for C are on the machine of the suite. */
const PACKAGES = ["libcjson-dev", "libjson-c-dev", "golang-go", "jq"];

/** How each program is built, and started. */
const PROGRAMS = {
  cJSON: inC("cjson", "-lcjson"),
  "json-c": inC("json-c", "-ljson-c"),
  Go: {
    build: ["go", "build", "-o", `${BUILT}/go`, source("read.go")],
    start: [`${BUILT}/go`],
  },
  Python: { start: ["python3", source("read.py")] },
  Perl: { start: ["perl", source("read.pl")] },
  jq: { start: ["jq", "--raw-input", "--raw-output", "--from-file", source("read.jq")] },
};

function inC(name, library) {
  return {
    build: ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", `${BUILT}/${name}`, source(`${name}.c`), library],
    start: [`${BUILT}/${name}`],
  };
}

/** Builds the programs, and installs what they need where that may be. Gives their names, or why there are none. */
export function buildParsers() {
  mkdirSync(BUILT, { recursive: true });
  const why = whyNotBuilt();
  if (why === undefined) return { parsers: Object.keys(PROGRAMS) };
  if (process.getuid() !== 0) return { missing: why };
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const lacking = PACKAGES.filter((name) => spawnSync("dpkg", ["--status", name]).status !== 0);
  for (const command of [["update"], ["install", "-y", "--no-install-recommends", ...lacking]]) {
    const { status, error, stderr } = spawnSync("apt-get", command, { env, encoding: "utf8" });
    if (status !== 0) return { missing: `apt-get ${command.join(" ")} failed: ${error?.message ?? stderr}` };
  }
  // `.ci/run` removes what was installed here, and nothing else.
  writeFileSync(`${TARGET}/parsers-installed`, lacking.join("\n"));
  const still = whyNotBuilt();
  return still === undefined ? { parsers: Object.keys(PROGRAMS) } : { missing: still };
}

/** Why the programs cannot be built or started, or nothing if they can. */
function whyNotBuilt() {
  const env = { ...process.env, GOCACHE: `${BUILT}/go-cache`, GO111MODULE: "off" };
  for (const { build, start } of Object.values(PROGRAMS)) {
    for (const [command, ...args] of build === undefined ? [start] : [build, start]) {
      const { status, error, stderr } = spawnSync(command, args, { env, encoding: "utf8", input: "" });
      if (status !== 0) return `${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`;
    }
  }
  return undefined;
}

/** What a parser makes of each line: a reading, or nothing where it finds no message. */
export function readWith(parser, lines) {
  const [command, ...args] = PROGRAMS[parser].start;
  const output = run(command, args, { input: lines.map((line) => `${line}\n`).join(""), maxBuffer: 1 << 28 });
  const read = output.split("\n").slice(0, -1);
  if (read.length !== lines.length) {
    throw new Error(`${parser} read ${read.length} lines of ${lines.length}`);
  }
  return read.map(readingOf);
}

function readingOf(line) {
  if (line === "error") return undefined;
  const [method, id, tool, names] = line.split(" ");
  return { method: spelled(method), id: spelled(id), tool: spelled(tool), names: names === "" ? [] : names.split(",") };
}

function spelled(field) {
  return field.startsWith("n") ? Number(field.slice(1)) : field;
}

const bytes = (text) => Buffer.from(text).toString("hex");

/** The same by this process's own JSON.parse. */
export function readHere(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  const field = (value) => (typeof value === "string" ? `t${bytes(value)}` : typeof value === "number" ? value : "-");
  const names = (value) =>
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([name, member]) => [
          ...(Array.isArray(value) ? [] : [bytes(name)]),
          ...names(member),
        ]);
  return {
    method: field(message.method),
    id: field(message.id),
    tool: field(message.params?.name),
    names: names(message.params?.arguments).sort(),
  };
}
