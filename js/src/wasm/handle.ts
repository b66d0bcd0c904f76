import { WasmBuilder, type WasmEngine, WasmHost } from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import { directoriesOf } from "../host.js";
import { member } from "../members.js";
import type { Verdict, VisibilityRef } from "../types.js";
import type { Interest } from "./arguments.js";
import { type Answers, Bridge } from "./bridge.js";
import * as wasm from "./module.js";
import { utf8 } from "./text.js";
import { Writer } from "./writer.js";

/** The documents of an engine as JSON text, by the module's names for them. */
export type Documents = ReadonlyMap<string, string>;

/** An annotated tool. */
export interface Tool extends Interest {
  /** The module's number for it. */
  readonly number: number;
}

/** An engine in one instance of the module. None of this outlives that instance. */
export interface Built {
  readonly engine: WasmEngine;
  readonly generation: number;
  /** The bridge through which the engine asks its host. */
  readonly bridge: Bridge;
  /** Writes calls to where the engine reads them. */
  readonly writer: Writer;
  /** The interest in a call of a tool without an annotation. */
  readonly unknown: Interest;
  /** The annotated tools that were called, by server and name. */
  readonly tools: Map<string, Map<string, Tool>>;
  /** Verdicts by their number. */
  readonly verdicts: Verdict[];
  /** The numbers of references. */
  readonly references: WeakMap<VisibilityRef, number>;
  /** The approvals that the engine has. */
  approvals: string | undefined;
}

/**
 * One engine, which is built again if the module has to be replaced.
 *
 * INVARIANT: no call into an engine begins while another one is on the stack; a callback that tries is answered without
 * the module.
 */
export interface WasmHandle {
  readonly documents: Documents;
  readonly answers: Answers;
  // As they were when the engine was first built.
  readonly homeDir: string;
  readonly currentDir: string;
  readonly ignoresPathCase: boolean;
  /** Approvals by people, a document as JSON text; `undefined` if there are none. */
  approvals: string | undefined;
  built: Built | undefined;
  isBusy: boolean;
  isDisposed: boolean;
}

/**
 * Builds an engine.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document; `invalid-argument` if the host's
 * directories are not text.
 */
export function createHandle(documents: Documents, answers: Answers): WasmHandle {
  const { homeDir, currentDir } = directoriesOf(answers.host);
  const ignoresPathCase = member(answers.host, "ignoresPathCase") ?? true;
  const handle: WasmHandle = {
    documents,
    answers,
    homeDir,
    currentDir,
    ignoresPathCase,
    approvals: undefined,
    built: undefined,
    isBusy: false,
    isDisposed: false,
  };
  wasm.within("invalid-document", () => build(handle));
  return handle;
}

/**
 * Asks the engine, which is busy until it has answered.
 *
 * @throws {@link CallgateError} `disposed` or `busy`; with `code` if the module refuses, `engine-fault` if it breaks.
 */
export function ask<T>(handle: WasmHandle, code: CallgateError["code"], question: (built: Built) => T): T {
  if (handle.isDisposed) {
    throw new CallgateError("disposed", "the engine has been disposed of");
  }
  if (handle.isBusy) {
    throw new CallgateError("busy", "a callback of the host called the engine that was asking it");
  }
  return wasm.within(code, () => {
    const { built } = handle;
    const current = built !== undefined && built.generation === wasm.generation() ? built : build(handle);
    handle.isBusy = true;
    try {
      current.bridge.begin();
      return question(current);
    } finally {
      handle.isBusy = false;
      current.bridge.end();
    }
  });
}

/**
 * Frees the engine's memory.
 *
 * @throws {@link CallgateError} `busy` from a callback of the engine's own host.
 */
export function dispose(handle: WasmHandle): void {
  if (handle.isBusy) {
    throw new CallgateError("busy", "a callback of the host disposed of the engine that was asking it");
  }
  const { built } = handle;
  handle.isDisposed = true;
  handle.built = undefined;
  if (built !== undefined && built.generation === wasm.generation() && !wasm.hasTrapped()) {
    built.engine.free();
  }
}

function build(handle: WasmHandle): Built {
  const { documents, answers, homeDir, currentDir, ignoresPathCase } = handle;
  const builder = new WasmBuilder();
  for (const [name, text] of documents) {
    builder.part(name, utf8(text));
  }
  handle.isBusy = true;
  try {
    const bridge = new Bridge(answers, wasm.view);
    const engine = builder.build(new WasmHost(bridge, homeDir, currentDir, ignoresPathCase));
    handle.built = {
      engine,
      bridge,
      generation: wasm.generation(),
      writer: new Writer((size) => {
        const start = engine.reserve(Math.max(size, 1024));
        return { bytes: wasm.view(), start, end: start + engine.room() };
      }),
      unknown: { members: new Map(), others: false, pathLike: engine.checksPathLike() },
      tools: new Map(),
      verdicts: [],
      references: new WeakMap(),
      approvals: undefined,
    };
    return handle.built;
  } finally {
    handle.isBusy = false;
  }
}
