// The package under the conformance suite, in any JavaScript runtime: batches in, outcomes out.
// `tests/src/subject.rs` has the format.
import * as callgate from "callgate";
import { misbehaving } from "./misbehaving.mjs";

// biome-ignore lint/security/noGlobalEval: the scripts are the suite's own and run in the global scope.
const evaluateScript = globalThis.eval;

function hostOf(surroundings, reenter) {
  if ("recording" in surroundings) {
    return callgate.createRecordedHost(surroundings.recording);
  }
  const { realpath, ...world } = surroundings.machine;
  const host = callgate.createVirtualHost(world);
  return realpath === undefined ? host : misbehaving(host, realpath, reenter);
}

const functions = {
  extractRequiredServers: (policy) => [...callgate.extractRequiredServers(policy)],
  getListMatcher: (type, value, pattern) => callgate.getListMatcher(type)(value, pattern),
  whitelistAdd: (pattern) =>
    callgate
      .createApprovalWhitelist()
      .add({ sourceEscalationId: "", originalReason: "", description: "", createdAt: "", ...pattern }),
};

function whitelist(script) {
  const list = callgate.createApprovalWhitelist();
  const extract = script.extract.map(({ server, tool, args, annotation, escalatedRoles, reason }) => {
    const roles = escalatedRoles ?? undefined;
    const found = callgate.extractWhitelistCandidates(server, tool, args, annotation, roles, "escalation", reason);
    for (const pattern of found.patterns) {
      list.add(pattern);
    }
    return {
      patterns: found.patterns.map(({ sourceEscalationId: _, createdAt: __, ...pattern }) => pattern),
      descriptions: found.ipcs.map(({ description }) => description),
    };
  });
  const ids = list.entries().map(({ id }) => id);
  const match = script.match.map(({ server, tool, args, annotation, escalatedRoles }) => {
    const found = list.match(server, tool, args, annotation, escalatedRoles ?? undefined);
    return found.matched ? ids.indexOf(found.patternId) : -1;
  });
  return { extract, match };
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One batch's host and engine, through the object API and through the names of the existing runtime. */
class Session {
  constructor(batch) {
    this.host = hostOf(batch.surroundings, (request) => this.engine?.evaluate(request));
    callgate.setDefaultHost(this.host);
    if (batch.engine !== null) {
      this.build(batch.engine);
    }
  }

  build(texts) {
    this.engine = undefined;
    this.policyEngine = undefined;
    this.refusal = undefined;
    try {
      const value = (name) => (texts[name] === undefined ? undefined : JSON.parse(texts[name]));
      const { sandbox: _, folder: __, ...documents } = texts;
      this.engine = callgate.createEngine({
        ...documents,
        sandbox: value("sandbox"),
        folder: value("folder"),
        host: this.host,
      });
      if (texts.world !== undefined || texts.folder !== undefined) {
        // The existing runtime has no worlds, and no folders.
        return;
      }
      if (texts.options !== undefined && !isJson(texts.options)) {
        // Its options are not a text, and only the engine reads one with comments.
        return;
      }
      const allowlists = value("domainAllowlists");
      const common = [value("protectedPaths"), value("sandbox")];
      const map = allowlists === undefined ? undefined : new Map(Object.entries(allowlists));
      const trusted = texts.trustedServers === undefined ? undefined : new Set(value("trustedServers"));
      this.policyEngine = new callgate.PolicyEngine(
        texts.policy,
        texts.annotations,
        ...common,
        map,
        texts.lists,
        trusted,
        { ...value("options"), ceiling: texts.ceiling, roles: value("roles"), host: this.host },
      );
    } catch (thrown) {
      this.refusal = thrown;
    }
  }

  guarded(operation) {
    try {
      return { answer: this.answer(operation) ?? null };
    } catch (thrown) {
      const isRefusal =
        thrown instanceof SyntaxError || (thrown instanceof callgate.CallgateError && thrown.code !== "engine-fault");
      return isRefusal ? { refused: thrown.message } : { fault: `${thrown?.stack ?? thrown}` };
    }
  }

  needed() {
    if (this.engine === undefined || this.refusal !== undefined) {
      throw this.refusal ?? new SyntaxError("the batch has no engine");
    }
    return this.engine;
  }

  /** Answers a question about the engine's world. */
  world(question) {
    if (question.ask === "diagnostics") {
      const found = this.refusal === undefined ? this.engine.diagnostics : this.refusal.diagnostics;
      return found.map(({ code, severity, path, line = null, column = null }) => ({
        code,
        severity,
        path,
        line,
        column,
      }));
    }
    const engine = this.needed();
    const context = question.context === undefined || question.context === null ? {} : JSON.parse(question.context);
    switch (question.ask) {
      case "resolve": {
        const { requireExists } = question;
        const { reply, ref } = engine.resolve(question.address, context, { requireExists });
        return { reply, hostPath: ref === undefined ? null : engine.hostPath(ref) };
      }
      case "enforce": {
        const { mode, address } = question;
        return engine.enforce({ ...question, mode: mode ?? undefined, address: address ?? undefined, context });
      }
      case "gate": {
        const request = JSON.parse(question.request);
        const options = question.context === null ? {} : { context };
        const gated = engine.gate(request, options);
        return { ...gated, explanation: engine.explainGate(request, { ...options, audience: "agent" }) };
      }
      case "evaluate": {
        const request = JSON.parse(question.request);
        const verdict = engine.evaluate(request, { context });
        return { verdict, explanation: engine.explain(request, { context }) };
      }
      case "references":
        return this.references(question.steps);
      default:
        throw new SyntaxError(`unknown question \`${question.ask}\``);
    }
  }

  /** Answers a question about a call with approvals. */
  approved({ ask, request, context, containerWorkspaceDir, approvals, offeredFor, now }) {
    const engine = this.needed();
    const options = {
      context: context === null ? undefined : JSON.parse(context),
      containerWorkspaceDir: containerWorkspaceDir ?? undefined,
      now: now ?? undefined,
    };
    const offerFor = (call) => {
      const { verdict } = engine.gate(call, { ...options, now: undefined });
      return engine.approvals.offer(call, verdict, options);
    };
    engine.approvals.fromJSON({ format: "approvals/1", entries: [] });
    const offer = offeredFor === null ? undefined : offerFor(JSON.parse(offeredFor));
    if (approvals !== null) {
      engine.approvals.fromJSON(approvals);
    }
    if (offer !== undefined) {
      engine.approvals.add(offer);
    }
    const call = JSON.parse(request);
    // Without a time an approval that ends never applies; here the time would always be now.
    const hasEnd = now === null && engine.approvals.list().some(({ expiresAt }) => expiresAt !== undefined);
    const timed = hasEnd ? { ...options, now: Number.MAX_SAFE_INTEGER } : options;
    switch (ask) {
      case "offer": {
        const found = offerFor(call);
        return found ?? null;
      }
      case "gate":
        return {
          ...engine.gate(call, timed),
          explanation: engine.explainGate(call, { ...timed, audience: "agent" }),
        };
      case "explainGate":
        return { verdict: engine.gate(call, timed).verdict, explanation: engine.explainGate(call, timed) };
      default:
        return { verdict: engine.evaluate(call, timed), explanation: engine.explain(call, timed) };
    }
  }

  references(steps) {
    const { engine } = this;
    // An engine has only one table, which must be empty when a question begins.
    engine.revoke();
    const given = [];
    return steps.map((step) => {
      if (step === "revokeAll") {
        engine.revoke();
        return null;
      }
      const [[name, operand]] = Object.entries(step);
      switch (name) {
        case "resolve": {
          const { reply, ref } = engine.resolve(operand[0], { mode: operand[1] });
          given.push(...(ref === undefined ? [] : [ref]));
          return reply.code;
        }
        case "hostPath":
          return given[operand] === undefined ? null : (engine.hostPath(given[operand]) ?? null);
        case "revoke":
          return given[operand] !== undefined && engine.revoke(given[operand]);
        default:
          throw new SyntaxError(`unknown step \`${name}\``);
      }
    });
  }

  answer(operation) {
    switch (operation.op) {
      case "construct":
        this.needed();
        return null;
      case "replace":
        this.build(operation.engine);
        this.needed();
        return null;
      case "free":
        this.needed().dispose();
        return null;
      case "evaluate": {
        const request = JSON.parse(operation.request);
        const first = this.needed().evaluate(request);
        const others = this.policyEngine === undefined ? [] : [this.policyEngine];
        for (const engine of [...others, ...Array(operation.times - 1).fill(this.engine)]) {
          const again = engine.evaluate(request);
          if (JSON.stringify(again) !== JSON.stringify(first)) {
            // This happens only with a host that answers differently each time.
            return operation.times === 1 ? first : again;
          }
        }
        return first;
      }
      case "evaluateText":
        return this.needed().evaluateText(operation.text);
      case "evaluateJs":
        try {
          return this.needed().evaluate(evaluateScript(`(${operation.expression})`));
        } finally {
          evaluateScript(operation.cleanup ?? "");
        }
      case "gate": {
        const options = { containerWorkspaceDir: operation.containerWorkspaceDir ?? undefined };
        return this.needed().gate(JSON.parse(operation.request), options);
      }
      case "explain":
        return this.needed().explain(JSON.parse(operation.request));
      case "semantics":
        return this.needed().semantics(operation.server, operation.tool) ?? null;
      case "diagnostics":
        return this.needed().diagnostics.map(
          ({ code, severity, path, message, help }) =>
            `${severity}[${code}] at ${path}: ${message}${help ? ` (help: ${help})` : ""}`,
        );
      case "getAnnotation": {
        this.needed();
        const annotation = this.policyEngine.getAnnotation(
          operation.server,
          operation.tool,
          JSON.parse(operation.args),
        );
        return annotation === undefined ? null : { args: annotation.args };
      }
      case "prepareToolArgs": {
        this.needed();
        const args = JSON.parse(operation.args);
        const annotation = this.policyEngine.getAnnotation(operation.server, operation.tool, args);
        const { allowedDirectory, containerWorkspaceDir } = operation;
        return callgate.prepareToolArgs(
          args,
          annotation,
          allowedDirectory ?? undefined,
          containerWorkspaceDir ?? undefined,
        );
      }
      case "function": {
        // biome-ignore lint/performance/noDynamicNamespaceImportAccess: this file is not bundled.
        const call = functions[operation.name] ?? callgate[operation.name];
        return call(...operation.args);
      }
      case "world":
        return this.world(operation);
      case "approved":
        return this.approved(operation);
      case "whitelist":
        return whitelist(operation);
      default:
        throw new SyntaxError(`unknown operation \`${operation.op}\``);
    }
  }
}

/** The outcomes of a batch; both are JSON text. */
export function run(text) {
  const batch = JSON.parse(text);
  return JSON.stringify(outcomes(batch));
}

function outcomes(batch) {
  let session;
  try {
    session = new Session(batch);
  } catch (thrown) {
    return batch.operations.map(() => ({ fault: `${thrown?.stack ?? thrown}` }));
  }
  return batch.operations.map((operation) => session.guarded(operation));
}
