#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { judge } from "./command/judge.js";
import { EXIT, Failure, report } from "./command/output.js";
import { validate } from "./command/validate.js";

const DOCUMENTS = {
  bundle: { type: "string", short: "b" },
  home: { type: "string" },
  cwd: { type: "string" },
  verbose: { type: "boolean", short: "v" },
  format: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
} as const satisfies ParseArgsConfig["options"];

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

Answers are JSON, one a line. The command that is built with cargo has these flags too, gives the same answers, and has
answers for people, \`init\`, \`annotate\`, \`guard\` and more.

Exit codes: 0 allow or valid, 1 fault (a bad flag or call, an unreadable file of calls), 2 deny, 3 escalate,
4 a document that is invalid or cannot be read.
For several calls: 1 if a line was not a call or there was none, else 2 if a call is denied, else 3 if one escalates, else 0.
`;

const SEE_HELP = "`callgate --help` lists the commands and their flags";

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
      const { values, positionals } = parsed(rest, { ...DOCUMENTS, strict: { type: "boolean" } });
      if (isAnswered(values)) {
        return EXIT.allow;
      }
      refuse(positionals.length > 0, `found \`${positionals[0]}\`, expected no calls`);
      return validate(values);
    }
    default: {
      const isFlag = command !== undefined && ["--help", "-h", "--version", "-V", "help"].includes(command);
      const isVersion = command === "--version" || command === "-V";
      refuse(!isFlag, `found ${command === undefined ? "no command" : `\`${command}\``}, expected ${COMMANDS}`);
      isAnswered({ help: !isVersion, version: isVersion });
      return EXIT.allow;
    }
  }
}

const COMMANDS = "`eval`, `explain` or `validate`; other commands are in the one that is built with cargo";

/** Writes the help or the version, if they are asked for, and returns `true` if they are. */
function isAnswered({ help, version }: { readonly help?: boolean; readonly version?: boolean }): boolean {
  if (help) {
    process.stdout.write(HELP);
  } else if (version) {
    const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
    process.stdout.write(`callgate ${(JSON.parse(text) as { readonly version: string }).version}\n`);
  }
  return !!help || !!version;
}

function refuse(isRefused: boolean, message: string): void {
  if (isRefused) {
    throw new Failure(message, SEE_HELP);
  }
}

/** The flags and what stands beside them. A flag may be given once. */
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
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  refuse(twice !== undefined, `\`--${twice}\` is given twice`);
  const { format } = values as { readonly format?: string };
  refuse(
    format !== undefined && format !== "json",
    `\`--format\` is \`${format}\`, but this command writes \`json\` only`,
  );
  return { values, positionals };
}

// Whoever read the answers has gone away.
process.stdout.on("error", () => process.exit(EXIT.fault));
// Until it is known what the answers come to, the process must not look as if a call were allowed.
process.exitCode = EXIT.fault;
process.exitCode = await run(process.argv.slice(2)).catch(report);
