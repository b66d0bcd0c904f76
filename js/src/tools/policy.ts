import * as wasm from "../../wasm/tools.js";
import { configured, type EngineConfig } from "../api/create-engine.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { directoriesOf } from "../host.js";
import { member, members, reading } from "../members.js";
import type {
  PolicyDecision,
  PolicyDiff,
  PolicyFinding,
  Statement,
  ToolChanges,
  ToolMap,
  ToolRegions,
} from "../types.js";
import { Bridge } from "../wasm/bridge.js";
import { isWellFormed } from "../wasm/text.js";
import { view, within } from "./module.js";

/** The parts of a map to show. */
export interface MapOptions {
  /** Only these tools: `tool`, `server/tool` or `server/*`. By default all. */
  readonly tools?: readonly string[] | undefined;
  /** Only what can reach this: a path, absolute or `~/…`, a URL, or the name of a host. */
  readonly to?: string | undefined;
  /** Only regions with these verdicts. By default all. */
  readonly only?: readonly PolicyDecision[] | undefined;
  /**
   * `true`: the links and repositories are those of the configuration's host. By default there are none, and git remotes by name
   * count as unknown.
   */
  readonly disk?: boolean | undefined;
  /** Is called with every tool as soon as it is known. What it throws ends the analysis. */
  readonly each?: ((tool: ToolMap) => void) | undefined;
}

/** Which regions are wanted. */
export interface RegionsOptions extends Omit<MapOptions, "only" | "each"> {
  /** Is called with every tool as soon as it is known. What it throws ends the analysis. */
  readonly each?: ((tool: ToolRegions) => void) | undefined;
}

/** How two configurations are compared. */
export interface DiffOptions {
  /** `true`: the links and repositories are those of the new configuration's host. By default there are none. */
  readonly disk?: boolean | undefined;
  /** Is called with every tool that changes, as soon as it is known. What it throws ends the analysis. */
  readonly each?: ((changes: ToolChanges) => void) | undefined;
}

/** The things to look at besides the documents. */
export interface LookOptions {
  /** `true`: the links and repositories are those of the configuration's host. By default there are none. */
  readonly disk?: boolean | undefined;
}

/** Anything that an engine can be built from. */
type Config = EngineConfig<string, string>;

/**
 * The calls that a configuration allows: for every annotated tool, the regions of its calls in which no verdict can
 * differ, those with one verdict together. Each row has the arguments of a call in it, about which the engine was
 * asked. Arguments that no rule looks at together have rows apart: the verdict of a call is the strictest of the rows
 * that it lies in. Where a world decides by the context of a call, its addresses are divided together with the contexts that
 * the world tells apart: the argument is called `the context`, and the row has the `context` of its call.
 *
 * The answer is what `callgate map --format json` writes, a tool a line. At most 50,000 calls of a tool are judged, 4,096 values
 * of an argument, and 64 combinations of values that conditions look at; where there are more, `inexact` says so.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document, `invalid-argument` if no tool has a name of
 * `tools`, `not-ready` if there is no host or, in browsers, the module is not loaded.
 */
export function map<Role extends string = never, Found extends string = never>(
  config: EngineConfig<Role, Found>,
  options: MapOptions = {},
): readonly ToolMap[] {
  const { tools, to, only, disk = false, each } = looked(options, ["tools", "to", "only", "disk", "each"]);
  const asked = JSON.stringify({ tools, to, only });
  return ask(config as Config, ({ policy }) =>
    collected<ToolMap>((listener) => policy.tellMap(asked, disk, listener), each),
  );
}

/**
 * The regions of which {@link map} shows those with one verdict together, each with a call of its own.
 *
 * @throws {@link CallgateError} as {@link map}.
 */
export function regions<Role extends string = never, Found extends string = never>(
  config: EngineConfig<Role, Found>,
  options: RegionsOptions = {},
): readonly ToolRegions[] {
  const { tools, to, disk = false, each } = looked(options, ["tools", "to", "disk", "each"]);
  const asked = JSON.stringify({ tools, to, apart: true });
  return ask(config as Config, ({ policy }) =>
    collected<ToolRegions>((listener) => policy.tellMap(asked, disk, listener), each),
  );
}

/**
 * Finds problems in a configuration that is valid: the warnings of loading, and problems that only show when all calls
 * are looked at, such as rules that decide nothing, each with a call that shows it. Links of the host's disk are
 * followed only with `disk: true`.
 *
 * The answer is what `callgate lint --format json` writes, a finding a line. For every rule by which no call is decided two
 * more engines are built.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document, `not-ready` as for {@link map}.
 */
export function lint<Role extends string = never, Found extends string = never>(
  config: EngineConfig<Role, Found>,
  options: LookOptions = {},
): readonly PolicyFinding[] {
  const { disk = false } = looked(options, ["disk"]);
  return ask(config as Config, ({ policy, located }) =>
    collected<PolicyFinding>((listener) => policy.tellFindings(disk, listener)).map(located),
  );
}

/**
 * Which calls are judged otherwise by `after` than by `before`, each with one that shows it. Where regions are not exact the
 * answer is in `unknown`: neither alike nor different.
 *
 * The answer is what `callgate diff --format json` writes: `tools` a tool a line, then the rest. The bounds are those of
 * {@link map}, for each of the two.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document of the first that has some, `not-ready`
 * as for {@link map}.
 */
export function diff<
  Role extends string = never,
  Found extends string = never,
  OtherRole extends string = never,
  OtherFound extends string = never,
>(
  before: EngineConfig<Role, Found>,
  after: EngineConfig<OtherRole, OtherFound>,
  options: DiffOptions = {},
): PolicyDiff {
  const { disk = false, each } = looked(options, ["disk", "each"]);
  type Line = ToolChanges | Omit<PolicyDiff, "tools">;
  const isTool = (line: Line): line is ToolChanges => Object.hasOwn(line, "toolName");
  return ask(before as Config, (old) =>
    ask(after as Config, (now) => {
      const lines = collected<Line>(
        (listener) => old.policy.tellChanges(now.policy, disk, listener),
        (line) => isTool(line) && each?.(line),
      );
      const counts = lines.pop() as Omit<PolicyDiff, "tools">;
      return { tools: lines.filter(isTool), ...counts };
    }),
  );
}

/**
 * Checks the statements about all calls that a configuration has under `invariants`: each is proven, refuted by a call,
 * not known where regions are not exact, or about no call. Links of the host's disk are followed only with
 * `disk: true`; without it the answer says so of statements about a directory, and the places that git remotes by name
 * and `HEAD` stand for are not known.
 *
 * The answer is what `callgate check --format json` writes, a statement a line.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document, `not-ready` as for {@link map}.
 */
export function check<Role extends string = never, Found extends string = never>(
  config: EngineConfig<Role, Found>,
  options: LookOptions = {},
): readonly Statement[] {
  const { disk = false } = looked(options, ["disk"]);
  return ask(config as Config, ({ policy }) =>
    collected<Statement>((listener) => policy.tellStatements(disk, listener)),
  );
}

/**
 * The options of an analysis.
 *
 * @throws {@link CallgateError} `invalid-argument` if one is not of its type.
 */
function looked<
  Options extends MapOptions | RegionsOptions | DiffOptions,
  Name extends keyof Options & keyof typeof TYPES,
>(options: Options, names: readonly Name[]): Partial<Pick<Options, Name>> {
  if (typeof options !== "object" || options === null) {
    throw new CallgateError("invalid-argument", "the options are not an object");
  }
  const read = reading("options", () => members(options, names));
  for (const name of names) {
    const [is, expected] = TYPES[name];
    if (read[name] !== undefined && !reading("options", () => is(read[name]))) {
      throw new CallgateError("invalid-argument", `the option \`${name}\` is not ${expected}`);
    }
  }
  return read;
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === "string" && isWellFormed(item));

/** The type of each option, with the words for it. */
const TYPES = {
  tools: [isTexts, "an array of strings"],
  only: [isTexts, "an array of strings"],
  to: [(value: unknown) => typeof value === "string" && isWellFormed(value), "a well-formed string"],
  disk: [(value: unknown) => typeof value === "boolean", "`true` or `false`"],
  each: [(value: unknown) => typeof value === "function", "a function"],
} as const satisfies { readonly [name in keyof MapOptions]-?: readonly [(value: unknown) => boolean, string] };

/** A policy in the module, and where its diagnostics belong. @internal */
export interface Looked {
  readonly policy: wasm.WasmPolicy;
  readonly located: <Found extends Diagnostic>(diagnostic: Found) => Found;
}

/** `true` while the module tells something. */
let isTelling = false;

/** Asks about a configuration, of which nothing stays in the module. @internal */
export function ask<T>(config: Config, question: (looked: Looked) => T): T {
  if (isTelling) {
    throw new CallgateError("busy", "a callback asked for an analysis during another one");
  }
  const { documents, answers, located } = configured(config, faultOfKey);
  const { homeDir, currentDir } = directoriesOf(answers.host);
  const ignoresPathCase = member(answers.host, "ignoresPathCase") ?? true;
  const bridge = new Bridge(answers, view);
  const texts = [...documents].flat();
  const build = (): wasm.WasmPolicy =>
    new wasm.WasmPolicy(texts, new wasm.WasmHost(bridge, homeDir, currentDir, ignoresPathCase));
  bridge.begin();
  try {
    const policy = withPlaces(() => within("invalid-document", build), located);
    let isGone = false;
    try {
      return question({ policy, located });
    } catch (thrown) {
      // With the instance that broke.
      isGone = thrown instanceof CallgateError && thrown.code === "engine-fault";
      throw thrown;
    } finally {
      if (!isGone) {
        policy.free();
      }
    }
  } finally {
    bridge.end();
  }
}

/** Does something; the diagnostics of what it throws have the names of the documents' files. */
function withPlaces<T>(run: () => T, located: Looked["located"]): T {
  try {
    return run();
  } catch (thrown) {
    throw thrown instanceof CallgateError && thrown.diagnostics.length > 0
      ? new CallgateError(thrown.code, thrown.message, thrown.diagnostics.map(located))
      : thrown;
  }
}

/** Everything that the module tells. */
function collected<Line>(tell: Telling, each?: ((line: Line) => unknown) | undefined): Line[] {
  const lines: Line[] = [];
  listen(tell, (text) => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    each?.(line);
  });
  return lines;
}

/** What tells a listener lines of JSON. @internal */
export type Telling = (listener: { hear(line: string): boolean }) => void;

/** Hands over what the module tells, line by line. What `take` throws ends it. @internal */
export function listen(tell: Telling, take: (line: string) => void): void {
  let failure: { readonly thrown: unknown } | undefined;
  const hear = (text: string): boolean => {
    try {
      take(text);
      return true;
    } catch (thrown) {
      // Nothing is thrown through the module.
      failure = { thrown };
      return false;
    }
  };
  isTelling = true;
  try {
    within("invalid-argument", () => tell({ hear }));
  } finally {
    isTelling = false;
  }
  if (failure !== undefined) {
    throw failure.thrown;
  }
}

function faultOfKey(key: string, known: string[]): Diagnostic {
  return within("engine-fault", () => wasm.unknownKey(key, key, known)) as Diagnostic;
}
