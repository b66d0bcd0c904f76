// The package under the conformance suite, in any JavaScript runtime: batches in, outcomes out.
// `tests/src/subject.rs` has the format.
import * as callgate from "callgate";

// biome-ignore lint/security/noGlobalEval: the scripts of a case are the suite's own, and in no other module's scope.
const evaluateScript = globalThis.eval;

/** A `realpath` that does not do its duty, as the world asks for it. */
function misbehaving(host, realpath, engineOf) {
  let asked = 0;
  const answer = (path) => {
    const honest = () => host.realpath(path);
    switch (realpath.mode) {
      case "throw":
        if (realpath.code !== undefined) {
          throw Object.assign(new Error(realpath.code), { code: realpath.code });
        }
        throw realpath.value === undefined ? new Error() : realpath.value;
      case "return":
        return realpath.value;
      case "undefined":
        return undefined;
      case "promise":
        return Promise.resolve(honest());
      case "append": {
        const real = honest();
        return typeof real === "string" ? real + realpath.value : real;
      }
      case "sequence": {
        const { values } = realpath;
        return values.length === 0 ? honest() : values[Math.min(asked++, values.length - 1)];
      }
      case "reenter":
        engineOf()?.evaluate(realpath.request);
        return honest();
      default:
        throw new Error(`unknown misbehaviour ${realpath.mode}`);
    }
  };
  return {
    ...host,
    realpath: (path) => (realpath.for === undefined || realpath.for === path ? answer(path) : host.realpath(path)),
  };
}

function hostOf(surroundings, engineOf) {
  if ("recording" in surroundings) {
    return callgate.createRecordedHost(surroundings.recording);
  }
  const { realpath, ...world } = surroundings.machine;
  const host = callgate.createVirtualHost(world);
  return realpath === undefined ? host : misbehaving(host, realpath, engineOf);
}

const functions = {
  getListMatcher: (type, value, pattern) => callgate.getListMatcher(type)(value, pattern),
  whitelistAdd: (pattern) =>
    callgate.createApprovalWhitelist().add({ sourceEscalationId: "", originalReason: "", description: "", ...pattern }),
};

function whitelist(script) {
  const list = callgate.createApprovalWhitelist();
  const extract = script.extract.map(({ server, tool, args, annotation, escalatedRoles, reason }) => {
    const roles = escalatedRoles ?? undefined;
    const found = callgate.extractWhitelistCandidates(server, tool, args, annotation, roles, "escalation", reason);
    for (const pattern of found.patterns) {
      list.add(pattern);
    }
    return { ...found, patterns: found.patterns.map(({ sourceEscalationId: _, ...pattern }) => pattern) };
  });
  const ids = list.entries().map(({ id }) => id);
  const match = script.match.map(({ server, tool, args, annotation, escalatedRoles }) => {
    const found = list.match(server, tool, args, annotation, escalatedRoles ?? undefined);
    return found.matched ? ids.indexOf(found.patternId) : -1;
  });
  return { extract, match };
}

/** One batch's host and engine, by the object API and by the names of the existing runtime. */
class Session {
  constructor(batch) {
    this.host = hostOf(batch.surroundings, () => this.engine);
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
      const allowlists = value("serverDomainAllowlists");
      const common = [value("protectedPaths"), value("allowedDirectory")];
      this.engine = callgate.createEngine({
        policy: texts.compiledPolicy,
        annotations: texts.toolAnnotations,
        dynamicLists: texts.dynamicLists,
        protectedPaths: common[0],
        allowedDirectory: common[1],
        serverDomainAllowlists: allowlists,
        trustedServers: value("trustedServers"),
        ceiling: texts.ceiling,
        options: value("options"),
        roles: value("roles"),
        world: texts.world,
        host: this.host,
      });
      if (texts.world !== undefined) {
        // The existing runtime has no worlds.
        return;
      }
      const map = allowlists === undefined ? undefined : new Map(Object.entries(allowlists));
      const trusted = texts.trustedServers === undefined ? undefined : new Set(value("trustedServers"));
      this.policyEngine = new callgate.PolicyEngine(
        texts.compiledPolicy,
        texts.toolAnnotations,
        ...common,
        map,
        texts.dynamicLists,
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
      throw this.refusal ?? new SyntaxError("no engine was asked for");
    }
    return this.engine;
  }

  /** What the engine says about its world. */
  world(question) {
    if (question.ask === "diagnostics") {
      const found = this.refusal === undefined ? this.engine.diagnostics : this.refusal.diagnostics;
      // Here the documents have names of their own.
      const named = (path) => path.replace(/^policy/, "compiledPolicy").replace(/^annotations/, "toolAnnotations");
      return found.map(({ code, severity, path }) => ({ code, severity, path: named(path) }));
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
        throw new SyntaxError(`nothing here answers \`${question.ask}\``);
    }
  }

  references(steps) {
    const { engine } = this;
    // An engine has one table, and each question begins with an empty one.
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
          throw new SyntaxError(`nothing here does \`${name}\``);
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
            // Only a host that answers differently each time may lead here.
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
        // biome-ignore lint/performance/noDynamicNamespaceImportAccess: nothing is bundled here.
        const call = functions[operation.name] ?? callgate[operation.name];
        return call(...operation.args);
      }
      case "world":
        return this.world(operation);
      case "whitelist":
        return whitelist(operation);
      default:
        throw new SyntaxError(`nothing here does \`${operation.op}\``);
    }
  }
}

/** The outcomes of a batch, as JSON text like the batch itself. */
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
