import {
  CallgateError,
  type CommandStep,
  createEngine,
  createRecordedHost,
  createVirtualHost,
  type Engine,
  type Explanation,
  type Gated,
  type Host,
  type Machine,
  parseCall,
  type ReadCall,
} from "callgate";
import { plainValue, readJson } from "../jsonc.js";
import type { Scenario, State } from "../state.js";
import { parseStrictly, repetitionIn } from "../strict.js";
import { type Config, configOf, faultsOf, hostOf, type ReadBundle, readBundle, withEdit } from "./config.js";
import { absolute, followLinks } from "./links.js";
import type { Built, Explained, Judged, Walk } from "./protocol.js";
import { toolsOf } from "./tools.js";

/** How much of a long explanation the page draws. */
const RULES_SHOWN = 60;
const EXCHANGES_SHOWN = 100;
const VALUES_SHOWN = 200;
const WALKS_SHOWN = 50;

/** Documents that were read, and, where nothing is wrong with them, the engine and the machine that they make. */
export interface Setup {
  readonly files: State["files"];
  readonly diagnostics: Built["diagnostics"];
  readonly machineFault: string | undefined;
  readonly engine: Engine | undefined;
  readonly config: Config | undefined;
  readonly host: Host | undefined;
}

/** The machine as it was last read: what it answered holds while its text stays. */
let machineRead: { readonly text: string; readonly host: Host } | undefined;
/** The bundle as it was last read without faults. */
let bundleRead: ReadBundle | undefined;

/** Reads the documents and the machine. Whatever is wrong with them is in the answer. */
export function setUp({ files, machine }: Pick<State, "files" | "machine">): Setup {
  let host: Host | undefined;
  let folder = "/";
  let machineFault: string | undefined;
  try {
    machineRead = machineRead?.text === machine ? machineRead : { text: machine, host: hostOf(machine) };
    host = machineRead.host;
    folder = host.currentDir;
  } catch (thrown) {
    machineFault = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const edited = host && bundleRead && withEdit(bundleRead, files, folder);
  if (edited !== undefined) {
    try {
      const { config } = edited;
      const engine = createEngine({ ...config, host });
      bundleRead = edited;
      return { files, diagnostics: engine.diagnostics, machineFault, engine, config, host };
    } catch {
      // The faults and their places are found in the whole text.
    }
  }
  bundleRead = undefined;
  let config: Config | undefined;
  try {
    config = configOf(files, folder);
    const engine = host && createEngine({ ...config, host });
    return { files, diagnostics: engine?.diagnostics ?? [], machineFault, engine, config, host };
  } catch (thrown) {
    return { files, diagnostics: faultsOf(thrown), machineFault, engine: undefined, config, host };
  }
}

/** Describes the documents for the page. */
export function describe({ files, diagnostics, machineFault, config, host, engine }: Setup): Built {
  if (engine !== undefined && config !== undefined && host !== undefined) {
    bundleRead ??= readBundle(files, host.currentDir, config);
  }
  return { kind: "built", diagnostics, machineFault, tools: toolsIn(config) };
}

let annotated: string | undefined;

/** The tools that the annotations describe, if these have changed. */
function toolsIn(config: Config | undefined): Built["tools"] {
  const text = String(config?.annotations ?? "").trim();
  if (annotated === text) {
    return undefined;
  }
  annotated = text;
  return toolsOf(readJson(text));
}

/** Judges a call as the gate does, and says what would be sent. */
export function judge(setup: Setup, text: string): Judged {
  try {
    const { call, context } = parseCall(text);
    const engine = ready(setup);
    const { verdict, argsForTransport } = engine.gate(call, { context });
    return { verdict, sent: verdict.decision === "allow" ? JSON.stringify(argsForTransport, null, 2) : undefined };
  } catch (thrown) {
    return { faults: faultsOf(thrown) };
  }
}

/** The engine for scenarios on a machine of their own. Those of one file mostly have the same. */
let elsewhere: { readonly setup: Setup; readonly machine: string; readonly engine: Engine } | undefined;

/**
 * Judges a scenario: on the page's machine, on its own, or with the answers that were recorded elsewhere. As for `callgate test`
 * the bundle lies in the current directory of the machine.
 */
export function tryOut(setup: Setup, { call, world, recording }: Scenario): Judged {
  try {
    const engine = engineFor(setup, world, recording);
    const { verdict } = ambiguous(engine, call) ?? gated(engine, call);
    return { verdict, sent: undefined };
  } catch (thrown) {
    return { faults: faultsOf(thrown) };
  }
}

function gated(engine: Engine, text: string): Pick<Gated, "verdict"> {
  const { call, context } = parseCall(text);
  return engine.gate(call, { context });
}

/** The denial of a call in which a name occurs twice. As a value, of which one reading is lost, it might be allowed. */
function ambiguous(engine: Engine, text: string): Pick<Gated, "verdict"> | undefined {
  if (repetitionIn(readJson(text), text) === undefined) {
    return undefined;
  }
  const verdict = engine.evaluateText(text);
  return verdict.rule === "structural-unreadable-argument" ? { verdict } : undefined;
}

function engineFor(setup: Setup, world: string | undefined, recording: string | undefined): Engine {
  const machine = recording ?? world;
  if (machine === undefined || setup.config === undefined) {
    return ready(setup);
  }
  if (elsewhere?.setup !== setup || elsewhere.machine !== machine) {
    elsewhere?.engine.dispose();
    elsewhere = undefined;
    const host =
      recording === undefined
        ? createVirtualHost(parseStrictly(machine) as Machine)
        : createRecordedHost(JSON.parse(recording));
    const engine = createEngine({ ...setup.config, folder: host.currentDir, host });
    elsewhere = { setup, machine, engine };
  }
  return elsewhere.engine;
}

/** Explains the verdict about a call; `undefined` if it cannot be judged. */
export function explain(setup: Setup, text: string): Explained | undefined {
  let read: ReadCall;
  let explanation: Explanation;
  try {
    read = parseCall(text);
    explanation = ready(setup).explainGate(read.call, { context: read.context });
  } catch {
    return undefined;
  }
  const { verdict, checks, roles, commands = [], recording, stepsLeftOut } = explanation;
  const values = explanation.values.slice(0, VALUES_SHOWN);
  const bases = basesOf(
    setup,
    values.map(({ canonical }) => canonical),
  );
  return {
    verdict,
    values: values.map((value) => ({ ...value, links: linksOf(setup, value, bases) })),
    resolved: explanation.values.length,
    checks,
    roles: roles.map(({ role, walks }) => ({
      role,
      walked: walks.length,
      walks: deciding(walks, verdict.rule).map(({ rules, ...walk }) => ({
        ...walk,
        considered: rules.length,
        rules: telling(rules),
      })),
    })),
    commands: commands.map(({ judged, ...part }) => ({
      ...part,
      text: textOf(explanation, part),
      tool: judged?.toolName,
      verdict: judged?.verdict,
    })),
    stepsLeftOut,
    exchanges: recording.exchanges.slice(0, EXCHANGES_SHOWN),
    asked: recording.exchanges.length,
  };
}

/** The text of a part; its place is in bytes. */
function textOf(
  { values }: Explanation,
  { argument, start, end }: Pick<CommandStep, "argument" | "start" | "end">,
): string {
  const whole = values.find((value) => value.argument === argument)?.raw ?? "";
  return new TextDecoder().decode(new TextEncoder().encode(whole).slice(start, end));
}

/** The first walks, and one that came to the verdict. */
function deciding<Found extends { readonly rule: string }>(walks: readonly Found[], rule: string): readonly Found[] {
  const first = walks.slice(0, WALKS_SHOWN);
  const one = first.some((walk) => walk.rule === rule) ? undefined : walks.find((walk) => walk.rule === rule);
  return one === undefined ? first : [...first, one];
}

/** The first rules, and those that held. */
function telling<Step extends { readonly holds: boolean }>(rules: readonly Step[]): readonly Step[] {
  return rules.length <= RULES_SHOWN ? rules : rules.filter(({ holds }, at) => holds || at < RULES_SHOWN);
}

/** The directories that a relative path may start from. The explanation does not say which it was. */
function basesOf({ host, config }: Setup, canonical: readonly (string | null)[]): readonly string[] {
  const cwd = host?.currentDir ?? "/";
  const sandbox = plainValue(readJson(String(config?.sandbox ?? "")));
  const paths = canonical.filter((path) => path?.startsWith("/")) as string[];
  return [...(typeof sandbox === "string" ? [absolute(sandbox, host?.homeDir ?? "/", cwd)] : []), cwd, ...paths];
}

function linksOf(
  { host }: Setup,
  { raw, canonical }: { readonly raw: string; readonly canonical: string | null },
  bases: readonly string[],
): Walk["links"] {
  if (host === undefined || canonical?.startsWith("/") !== true) {
    return [];
  }
  for (const base of bases) {
    const { links, end } = followLinks(host, absolute(raw, host.homeDir, base));
    if (end === canonical) {
      return links;
    }
  }
  return [];
}

function ready({ engine, machineFault }: Setup): Engine {
  if (engine === undefined) {
    const message = machineFault === undefined ? "the bundle has faults" : "the machine has a fault";
    throw new CallgateError("not-ready", message);
  }
  return engine;
}
