// The component, transpiled for JavaScript, under the conformance suite: a line of standard input is a batch, a line of
// standard output its outcomes. `tests/src/subject.rs` has the format.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRecordedHost, createVirtualHost } from "callgate";
import { instantiate } from "../../component/callgate.js";
import { importsOf } from "./jco-host.mjs";
import { misbehaving } from "./misbehaving.mjs";

// Node 20 lacks this. The transpiled component tries it for each of its functions and goes on without; for the message of a
// call of `undefined`, V8 reads the whole file again, which took most of this host's time.
WebAssembly.promising ??= () => {
  throw new TypeError("WebAssembly.promising is not a function");
};

const modules = new Map();

function coreModule(path) {
  if (!modules.has(path)) {
    const bytes = readFileSync(new URL(`../../component/${path}`, import.meta.url));
    modules.set(path, new WebAssembly.Module(bytes));
  }
  return modules.get(path);
}

/** A fresh instance over the host. */
function engineOver(host) {
  // In the transpiled component, the names of interfaces have no version.
  const imports = { "callgate:gate/host": importsOf(host) };
  return instantiate(coreModule, imports).engine;
}

function hostOf(surroundings, reenter) {
  if ("recording" in surroundings) {
    return createRecordedHost(surroundings.recording);
  }
  const { realpath, ...world } = surroundings.machine;
  const host = createVirtualHost(world);
  return realpath === undefined ? host : misbehaving(host, realpath, reenter);
}

function verdictOf({ decision, rule, reason, approval }) {
  const roles = decision.tag === "escalate" && decision.val.length > 0 ? { escalatedRoles: decision.val } : {};
  return { decision: decision.tag, rule, reason, ...roles, ...(approval === undefined ? {} : { approval }) };
}

const parsed = (text) => (text === undefined ? null : JSON.parse(text));

/** A request, as the WIT contract has it. */
const asked = (call, context, paths, explain, approvals) => ({ call, context, paths, explain, approvals });

const PREPARED = { tag: "prepared" };

/** A diagnostic in one line, as core prints it. */
const line = ({ code, severity, path, message, help }) =>
  `${severity}[${code}] at ${path}: ${message}${help ? ` (help: ${help})` : ""}`;

/** The answer to each step, all on one table of references. */
function referenceSteps(engine, steps) {
  const table = engine.references();
  const given = [];
  return steps.map((step) => {
    if (step === "revokeAll") {
      table.revokeAll();
      return null;
    }
    const [[name, operand]] = Object.entries(step);
    switch (name) {
      case "resolve": {
        const context = JSON.stringify({ mode: operand[1] });
        const { reply, reference } = engine.resolve(table, operand[0], true, context);
        given.push(...(reference === undefined ? [] : [reference]));
        return JSON.parse(reply).code;
      }
      case "hostPath":
        return given[operand] === undefined ? null : (table.hostPath(given[operand]) ?? null);
      case "revoke":
        return given[operand] !== undefined && table.revoke(given[operand]);
      default:
        throw new SyntaxError(`unknown step \`${name}\``);
    }
  });
}

/** One batch's host and engine. */
class Session {
  constructor(batch) {
    this.host = hostOf(batch.surroundings, (request) => this.reenter(request));
    this.engine = engineOver(this.host);
    this.documents = batch.engine;
    this.build();
  }

  build() {
    this.loaded = undefined;
    this.refusal = undefined;
    if (this.documents === null) {
      return;
    }
    try {
      this.loaded = this.load(this.engine);
    } catch (thrown) {
      this.refusal = thrown;
    }
  }

  load(engine) {
    const documents = Object.entries(this.documents).map(([name, text]) => ({ name, text }));
    return engine.Engine.load(documents);
  }

  /** An instance cannot be called while it asks its host, so another instance judges the call. */
  reenter(request) {
    if (!this.inside) {
      this.inside = true;
      this.load(engineOver(this.host)).judge(asked(JSON.stringify(request), undefined, PREPARED));
      this.inside = false;
    }
  }

  guarded(operation) {
    try {
      return { answer: this.answer(operation) ?? null };
    } catch (thrown) {
      // The error of a `result` is thrown unchanged: a record, a variant or a list. A trap is an `Error`.
      const isRefusal = thrown instanceof SyntaxError || !(thrown instanceof Error);
      return isRefusal
        ? { refused: thrown instanceof Error ? thrown.message : JSON.stringify(thrown) }
        : { fault: `${thrown?.stack ?? thrown}` };
    }
  }

  needed() {
    if (this.loaded === undefined) {
      throw this.refusal ?? new SyntaxError("the batch has no engine");
    }
    return this.loaded;
  }

  evaluate(text, times) {
    const judged = () => verdictOf(this.needed().judge(asked(text, undefined, PREPARED)).verdict);
    const first = judged();
    for (let more = 1; more < times; more++) {
      const again = judged();
      if (JSON.stringify(again) !== JSON.stringify(first)) {
        return again;
      }
    }
    return first;
  }

  world(question) {
    if (question.ask === "diagnostics") {
      const faults = JSON.parse(this.loaded === undefined ? this.refusal : this.loaded.warnings());
      return faults.map(({ code, severity, path, line = null, column = null }) => ({
        code,
        severity,
        path,
        line,
        column,
      }));
    }
    const engine = this.needed();
    const context = question.context ?? undefined;
    switch (question.ask) {
      case "resolve": {
        const table = engine.references();
        const { reply, reference } = engine.resolve(table, question.address, question.requireExists, context);
        return {
          reply: JSON.parse(reply),
          hostPath: reference === undefined ? null : (table.hostPath(reference) ?? null),
        };
      }
      case "enforce": {
        const { mode, tool, command, root, subdirectory, address } = question;
        const given = (value) => value ?? undefined;
        const operation = {
          mode: given(mode),
          tool,
          command,
          root,
          subdirectory: given(subdirectory),
          address: given(address),
        };
        return JSON.parse(engine.enforce(operation, context));
      }
      case "gate": {
        const request = asked(question.request, context, { tag: "gate", val: undefined }, "agent");
        const { verdict, arguments: sent, explanation } = engine.judge(request);
        return {
          verdict: verdictOf(verdict),
          argsForTransport: parsed(sent),
          explanation: parsed(explanation),
        };
      }
      case "evaluate": {
        const { verdict, explanation } = engine.judge(asked(question.request, context, PREPARED, "operator"));
        return { verdict: verdictOf(verdict), explanation: parsed(explanation) };
      }
      case "references":
        return referenceSteps(engine, question.steps);
      default:
        throw new SyntaxError(`unknown question \`${question.ask}\``);
    }
  }

  /** Answers a question about a call with approvals. */
  approved({ ask, request, context, containerWorkspaceDir, approvals, offeredFor, now }) {
    const engine = this.needed();
    const paths = { tag: "gate", val: containerWorkspaceDir ?? undefined };
    const given = context ?? undefined;
    const document = approvals === null ? { format: "approvals/1", entries: [] } : JSON.parse(approvals);
    const offer = offeredFor === null ? undefined : engine.offer(asked(offeredFor, given, paths));
    if (offer !== undefined) {
      document.entries.push({ id: "approval-1", ...JSON.parse(offer) });
    }
    const moment = now === null ? undefined : BigInt(typeof now === "string" ? Date.parse(now) : now);
    // An explanation says of a call that escalates whether approvals were looked at.
    const isWithout = ask === "explainGate" && document.entries.length === 0;
    const approving = isWithout ? undefined : { document: JSON.stringify(document), now: moment };
    const judge = (explain) => {
      const place = ask === "evaluate" ? PREPARED : paths;
      const answer = engine.judge(asked(request, given, place, explain, approving));
      return { ...answer, verdict: verdictOf(answer.verdict) };
    };
    if (ask === "offer") {
      return parsed(engine.offer(asked(request, given, paths)));
    }
    const { verdict, arguments: sent, explanation } = judge(ask === "gate" ? "agent" : "operator");
    const transport = ask === "gate" ? { argsForTransport: parsed(sent) } : {};
    return { verdict, ...transport, explanation: parsed(explanation) };
  }

  answer(operation) {
    switch (operation.op) {
      case "construct":
        this.needed();
        return null;
      case "replace":
        this.documents = operation.engine;
        this.build();
        this.needed();
        return null;
      case "evaluate":
        return this.evaluate(operation.request, operation.times);
      case "evaluateText":
        return this.evaluate(operation.text, 1);
      case "gate": {
        const paths = { tag: "gate", val: operation.containerWorkspaceDir ?? undefined };
        const { verdict, arguments: sent } = this.needed().judge(asked(operation.request, undefined, paths));
        return { verdict: verdictOf(verdict), argsForTransport: parsed(sent) };
      }
      case "explain":
        return parsed(this.needed().judge(asked(operation.request, undefined, PREPARED, "operator")).explanation);
      case "semantics":
        return parsed(this.needed().semantics({ server: operation.server, name: operation.tool }));
      case "diagnostics":
        return JSON.parse(this.needed().warnings()).map(line);
      case "world":
        return this.world(operation);
      case "approved":
        return this.approved(operation);
      default:
        throw new SyntaxError(`unknown operation \`${operation.op}\``);
    }
  }
}

function run(batch) {
  let session;
  try {
    session = new Session(batch);
  } catch (thrown) {
    return batch.operations.map(() => ({ fault: `${thrown?.stack ?? thrown}` }));
  }
  return batch.operations.map((operation) => session.guarded(operation));
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  process.stdout.write(`${JSON.stringify(run(JSON.parse(line)))}\n`);
}
