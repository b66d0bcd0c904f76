import { type ParseArgsConfig, parseArgs } from "node:util";
import { check, diff, lint, map } from "./analysis.js";
import { annotate, init } from "./drafts.js";
import { EXIT } from "./exit.js";
import { judge } from "./judge.js";
import { asksForLeave, GET_NATIVE, PLATFORM_PACKAGE } from "./native.js";
import { Failure, report } from "./output.js";
import { test } from "./test.js";
import { validate } from "./validate.js";
import { packageVersion } from "./version.js";

const GENERAL = {
  format: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
} as const satisfies ParseArgsConfig["options"];

const DOCUMENTS = {
  bundle: { type: "string", short: "b" },
  home: { type: "string" },
  cwd: { type: "string" },
  verbose: { type: "boolean", short: "v" },
  ...GENERAL,
} as const satisfies ParseArgsConfig["options"];

const LOOK = { disk: { type: "boolean" }, ...DOCUMENTS } as const satisfies ParseArgsConfig["options"];

const CALLS = {
  server: { type: "string" },
  prepared: { type: "boolean" },
  "container-workspace-dir": { type: "string" },
  context: { type: "string" },
  contexts: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

const HELP = `Decides whether an AI agent's tool calls may be made, and says why.

Usage: callgate eval [OPTIONS] [CALLS]      judge calls: allow, escalate or deny
       callgate explain [OPTIONS] [CALLS]   judge calls and show why, step by step
       callgate validate [OPTIONS]          check the documents
       callgate lint [OPTIONS]              show what is doubtful about them
       callgate map [OPTIONS]               show what every tool may do
       callgate check [OPTIONS]             prove the statements of the bundle's \`invariants\`, or refute them
       callgate diff [OPTIONS] OLD NEW      show what changes between two bundles
       callgate test [OPTIONS] [FILES]      run scenarios: calls, each with what is expected of it
       callgate init [--for PACKS] [--force] [DIR]   write a bundle to begin with
       callgate annotate --server NAME [OPTIONS] TOOLS   draft annotations from a saved answer to \`tools/list\`

CALLS is one call as JSON, a file (NAME.json holds one call, any other file one call a line), or - for standard input,
which is read where there is none. A call is {"serverName", "toolName", "arguments"}, or MCP's frame
{"method": "tools/call", "params": {"name", "arguments"}}.

Documents and host:
  -b, --bundle FILE   a bundle, or the folder of one called callgate.json [default: ./callgate.json]
      --home DIR      what ~ stands for [default: the user's home directory]
      --cwd DIR       what relative paths of calls are relative to [default: the current directory]
      --strict        validate: refuse documents with warnings too
  -v, --verbose       write to standard error which bundle is used

Calls (eval and explain):
      --server NAME   the server of calls that name none; a frame of MCP names none
      --prepared      the arguments were prepared elsewhere: judge them as they are
      --container-workspace-dir DIR   what the tool's container calls its workspace
      --context JSON  the context of every call, an object
      --contexts      take each call's context from its member \`context\`; only where no agent writes the calls

Looks at all calls (lint, map, check, diff and test):
      --disk          follow the links on this machine's disk, and read its repositories
      --deny-warnings   lint: fail where there are findings
      --sarif         lint: write a log of SARIF 2.1.0
      --tool TOOL     map: only these tools, \`tool\`, \`server/tool\` or \`server/*\`; may be repeated
      --to URL|PATH   map: only what can reach this
      --only VERDICT  map: only regions with this verdict; may be repeated
      --no-coverage   test: do not look at what the scenarios reach
      --min-coverage PERCENT   test: fail where they reach a smaller share of the regions
      --same-folder   diff: OLD is an earlier state of NEW, checked out elsewhere
      --fail-on WAY   diff: fail where calls become \`looser\`, \`stricter\`, or change in \`any\` way; may be repeated

Writes documents (init and annotate):
      --for PACKS     init: for these servers, which have a pack; NAME=PACK for one that has another name in calls
      --force         init: overwrite files that are there
      --into FILE     annotate: add to these annotations, or to those that this bundle holds or names
      --pack PACK     annotate: hold the server against a pack of \`init\`, and draft from it
      --check         annotate: write nothing, and fail where the server differs

This is the command as WebAssembly, for machines without the program that is compiled for them. Its answers are JSON, one a line.
The program has these flags too, gives the same answers, and has answers for people, the guard, hooks and more; where the package
\`${PLATFORM_PACKAGE}\` is installed, or CALLGATE_BINARY names it, it runs instead of this.

Exit codes: 0 allow or valid, 1 fault (a bad flag or call, an unreadable file of calls), 2 deny, 3 escalate,
4 a document that is invalid or cannot be read.
For several calls: 1 if a line was not a call or there was none, else 2 if a call is denied, else 3 if one escalates, else 0.
`;

const SEE_HELP = "`callgate --help` lists the commands and their flags";

/** What the command comes to: the exit code of the process. */
export async function main(args: readonly string[]): Promise<number> {
  // Whoever read the answers has gone away.
  process.stdout.on("error", () => process.exit(EXIT.fault));
  const exit = await run(args).catch(report);
  return asksForLeave(args) ? EXIT.deny : exit;
}

async function run([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case "eval":
    case "explain": {
      const { values, positionals } = parsed(rest, { ...DOCUMENTS, ...CALLS });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      refuse(positionals.length > 1, `found \`${positionals[1]}\` after the calls, expected nothing`);
      const { prepared, contexts, context } = values;
      const container = values["container-workspace-dir"];
      refuse(!!prepared && container !== undefined, "`--prepared` cannot be used with `--container-workspace-dir`");
      refuse(!!contexts && context !== undefined, "`--context` cannot be used with `--contexts`");
      return judge(positionals[0], values, command === "explain");
    }
    case "validate": {
      const values = alone(rest, { ...DOCUMENTS, strict: { type: "boolean" } });
      return isAnswered(values) ? EXIT.allow : validate(values);
    }
    case "lint": {
      const values = alone(rest, { ...LOOK, "deny-warnings": { type: "boolean" }, sarif: { type: "boolean" } });
      const { "deny-warnings": denies = false, sarif = false } = values;
      return isAnswered(values) ? EXIT.allow : lint(values, denies, sarif);
    }
    case "check": {
      const values = alone(rest, LOOK);
      return isAnswered(values) ? EXIT.allow : check(values);
    }
    case "map": {
      const several = { type: "string", multiple: true } as const;
      const values = alone(rest, { ...LOOK, tool: several, only: several, to: { type: "string" } });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      const { tool = [], to, only = [] } = values;
      const odd = only.find((verdict) => !VERDICTS.includes(verdict));
      refuse(odd !== undefined, `\`--only\` is \`${odd}\`, expected \`${VERDICTS.join("`, `")}\``);
      return map(values, tool, to, only);
    }
    case "diff": {
      const { values, positionals } = parsed(rest, {
        ...LOOK,
        "fail-on": { type: "string", multiple: true },
        "same-folder": { type: "boolean" },
      });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      const [old, now, ...more] = positionals;
      refuse(values.bundle !== undefined, "`diff` has no `--bundle` here, expected two bundles");
      if (old === undefined || now === undefined || more.length > 0) {
        throw new Failure(`found ${positionals.length} bundles, expected two`, SEE_HELP);
      }
      return diff(old, now, values, values["fail-on"] ?? []);
    }
    case "test": {
      const { values, positionals } = parsed(rest, {
        ...LOOK,
        "no-coverage": { type: "boolean" },
        "min-coverage": { type: "string" },
      });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      const isBoth = !!values["no-coverage"] && values["min-coverage"] !== undefined;
      refuse(isBoth, "`--no-coverage` cannot be used with `--min-coverage`");
      return test(positionals, values);
    }
    case "init": {
      const packs = { type: "string", multiple: true } as const;
      const { values, positionals } = parsed(rest, { ...GENERAL, for: packs, from: packs, force: { type: "boolean" } });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      refuse(positionals.length > 1, `found \`${positionals[1]}\` after the directory, expected nothing`);
      if (values.from !== undefined) {
        throw new Failure("`init --from` reads the configurations of agents, which WebAssembly does not", GET_NATIVE);
      }
      const named = (values.for ?? []).flatMap((names) => names.split(","));
      return init(positionals[0] ?? ".", named, values.force ?? false);
    }
    case "annotate": {
      const { values, positionals } = parsed(rest, {
        ...GENERAL,
        server: { type: "string" },
        into: { type: "string" },
        pack: { type: "string" },
        check: { type: "boolean" },
      });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      const [list, ...more] = positionals;
      const { into, pack, check } = values;
      refuse(into !== undefined && pack !== undefined, "`--into` cannot be used with `--pack`");
      refuse(!!check && into === undefined && pack === undefined, "`--check` is used with `--into` or `--pack`");
      if (list === undefined || more.length > 0 || values.server === undefined) {
        throw new Failure("expected `--server NAME` and one file, a saved answer to `tools/list`", SEE_HELP);
      }
      return annotate(list, values.server, values);
    }
    default: {
      const isFlag = command !== undefined && ["--help", "-h", "--version", "-V", "help"].includes(command);
      const isVersion = command === "--version" || command === "-V";
      if (command !== undefined && Object.hasOwn(NATIVE, command)) {
        throw new Failure(`\`${command}\` ${NATIVE[command]}, which WebAssembly cannot`, GET_NATIVE);
      }
      refuse(!isFlag, `found ${command === undefined ? "no command" : `\`${command}\``}, expected a command`);
      isAnswered({ help: !isVersion, version: isVersion });
      return EXIT.allow;
    }
  }
}

const VERDICTS = ["allow", "escalate", "deny"];

/** The commands that need the program, and the reason for it. */
const NATIVE: Readonly<Record<string, string>> = {
  approvals: "shares a queue on the disk with guards and hooks",
  audit: "reads the logs of guards, which are locked while they are written",
  completions: "knows the flags of the program that is compiled for this machine",
  doctor: "looks at the settings of agents and runs what they run",
  enforce: "acts on the places of a world",
  guard: "stands between two processes",
  hook: "has to answer within milliseconds",
  intersect: "reads documents of a world",
  pin: "asks servers, which it starts",
  replay: "judges with the recorded answers of a host",
  resolve: "resolves the addresses of a world on this machine",
  schema: "writes files beside the documents",
  suggest: "reads the logs of guards",
  tools: "lists what a world offers",
  wrap: "writes the program's place into the configuration of an agent",
};

/** Writes the help or the version, if they are asked for, and returns `true` if they are. */
function isAnswered({ help, version }: { readonly help?: boolean; readonly version?: boolean }): boolean {
  if (help) {
    process.stdout.write(HELP);
  } else if (version) {
    process.stdout.write(`callgate ${packageVersion()}\n`);
  }
  return !!help || !!version;
}

function refuse(isRefused: boolean, message: string): void {
  if (isRefused) {
    throw new Failure(message, SEE_HELP);
  }
}

/** The flags of a command that takes nothing beside them. */
function alone<const Options extends NonNullable<ParseArgsConfig["options"]>>(args: string[], options: Options) {
  const { values, positionals } = parsed(args, options);
  refuse(positionals.length > 0, `found \`${positionals[0]}\`, expected flags only`);
  return values;
}

/** The flags and what stands beside them. A flag may be given once, unless it takes several values. */
function parsed<const Options extends NonNullable<ParseArgsConfig["options"]>>(args: string[], options: Options) {
  const read = () => {
    try {
      return parseArgs({ args, options, allowPositionals: true, tokens: true });
    } catch (thrown) {
      throw new Failure((thrown as Error).message, SEE_HELP);
    }
  };
  const { values, positionals, tokens } = read();
  const names = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
  const twice = names.find((name, at) => names.indexOf(name) !== at && options[name]?.multiple !== true);
  refuse(twice !== undefined, `\`--${twice}\` is given twice`);
  const { format } = values as { readonly format?: string };
  refuse(
    format !== undefined && format !== "json",
    `\`--format\` is \`${format}\`, but this command writes \`json\` only`,
  );
  return { values, positionals };
}
