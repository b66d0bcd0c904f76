// The component, transpiled for JavaScript, under the conformance suite: a line of standard input is a batch, a line of
// standard output its outcomes. `tests/src/subject.rs` has the format.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRecordedHost, createVirtualHost } from "callgate";
import { instantiate } from "../../component/callgate.js";
import { described, line, referenceSteps, replied, spelled } from "./jco-described.mjs";
import { explained } from "./jco-explained.mjs";
import { importsOf, misbehaving } from "./jco-host.mjs";

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
  // The transpiled component leaves versions out of the names.
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

function verdictOf({ decision, rule, reason }) {
  const roles = decision.tag === "escalate" && decision.val.length > 0 ? { escalatedRoles: decision.val } : {};
  return { decision: decision.tag, rule, reason, ...roles };
}

const rolesOf = (named) => Object.fromEntries(named.map(({ name, roles }) => [name, roles]));

const CONSTRAINED = { directory: "directory", domain: "domain", exact: "value" };

function shownPattern({ serverName, toolName, constraints, originalReason, description }) {
  const shown = constraints.map(({ tag, val }) => ({ kind: tag, role: val.role, [CONSTRAINED[tag]]: val.to }));
  return { serverName, toolName, constraints: shown, originalReason, description };
}

function givenPattern({ constraints = [], ...rest }) {
  const given = constraints.map((one) => ({ tag: one.kind, val: { role: one.role, to: one[CONSTRAINED[one.kind]] } }));
  return { sourceEscalationId: "", originalReason: "", description: "", ...rest, constraints: given };
}

const escalationOf = ({ server, tool, args, annotation, escalatedRoles }) => ({
  server,
  tool,
  arguments: JSON.stringify(args),
  annotation: JSON.stringify(annotation),
  roles: escalatedRoles ?? undefined,
});

const NOTHING = { server: "", tool: "", args: {}, annotation: { args: {} } };

const KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"];

/** The contract has no other kinds. */
function kindOf(kind) {
  if (!KINDS.includes(kind)) {
    throw new SyntaxError(`unknown kind \`${kind}\``);
  }
  return kind;
}

const functions = {
  expandTilde: (engine, path) => engine.expandTilde(path),
  resolveRealPath: (engine, path) => engine.resolveRealPath(path),
  isWithinDirectory: (engine, path, directory) => engine.isWithinDirectory(path, directory),
  directoryForPath: (engine, path) => engine.directoryForPath(path),
  extractPolicyRoots: (engine, policy, directories) => engine.policyRoots(JSON.stringify(policy), [directories].flat()),
  toMcpRoots: (engine, roots) => engine.mcpRoots(roots),
  extractRequiredServers: (engine, policy) => engine.requiredServers(JSON.stringify(policy)),
  resolveGitRemote: (engine, remote, args) =>
    engine.resolveGitRemote(remote, typeof args?.path === "string" ? args.path : undefined),
  resolveDefaultGitRemote: (engine, path) => engine.resolveDefaultGitRemote(path),
  normalizeUrl: (engine, value) => engine.normalizeUrl(value),
  normalizeGitUrl: (engine, value) => engine.normalizeGitUrl(value),
  extractDomain: (engine, value) => engine.extractDomain(value),
  extractGitDomain: (engine, value) => engine.extractGitDomain(value),
  isIpAddress: (engine, host) => engine.isIpAddress(host),
  domainMatchesAllowlist: (engine, domain, patterns) => engine.domainMatchesAllowlist(domain, patterns),
  getListMatcher: (engine, type, value, entry) => {
    if (!["domains", "emails", "identifiers"].includes(type)) {
      throw new SyntaxError(`unknown list type \`${type}\``);
    }
    return engine.listEntryMatches(type, value, entry);
  },
  resolveStoredAnnotation: (engine, annotation, args) => {
    const roles = engine.resolveStoredAnnotation(JSON.stringify(annotation), JSON.stringify(args));
    return { args: rolesOf(roles) };
  },
  intersectCeilings: (engine, host, requested) =>
    JSON.parse(engine.intersectCeilings(JSON.stringify(host), JSON.stringify(requested))),
  isReadOnly: (engine, kind) => engine.isReadOnly(kindOf(kind)),
  mutationClass: (engine, kind) => spelled(engine.kindMutationClass(kindOf(kind))),
  parseSideEffectLevel: (engine, word) => spelled(engine.parseSideEffectLevel(word)),
  sideEffectRank: (engine, word) => engine.sideEffectRank(engine.parseSideEffectLevel(word)),
  rewriteResultContent: (engine, content, hostDir, containerDir) => {
    if (!Array.isArray(content)) {
      return content;
    }
    const rewritten = (block) => engine.rewriteText(block.text, hostDir, containerDir) ?? block.text;
    const isText = (block) => block?.type === "text" && typeof block.text === "string";
    return content.map((block) => (isText(block) ? { ...block, text: rewritten(block) } : block));
  },
  whitelistAdd: (engine, pattern) => {
    engine.findApproval([givenPattern(pattern)], escalationOf(NOTHING));
    return 0;
  },
};

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

  /** An instance that is asking its host is not asked itself: another one judges the call. */
  reenter(request) {
    if (!this.inside) {
      this.inside = true;
      this.load(engineOver(this.host)).evaluate(JSON.stringify(request));
      this.inside = false;
    }
  }

  guarded(operation) {
    try {
      return { answer: this.answer(operation) ?? null };
    } catch (thrown) {
      // The error of a `result` is thrown as it is, and is a record, a variant or a list; a trap is an `Error`.
      const isRefusal = thrown instanceof SyntaxError || !(thrown instanceof Error);
      return isRefusal
        ? { refused: thrown instanceof Error ? thrown.message : JSON.stringify(thrown) }
        : { fault: `${thrown?.stack ?? thrown}` };
    }
  }

  needed() {
    if (this.loaded === undefined) {
      throw this.refusal ?? new SyntaxError("no engine was asked for");
    }
    return this.loaded;
  }

  evaluate(text, times) {
    const first = verdictOf(this.needed().evaluate(text));
    for (let more = 1; more < times; more++) {
      const again = verdictOf(this.needed().evaluate(text));
      if (JSON.stringify(again) !== JSON.stringify(first)) {
        return again;
      }
    }
    return first;
  }

  world(question) {
    if (question.ask === "diagnostics") {
      const found = Array.isArray(this.refusal?.payload) ? this.refusal.payload : this.refusal;
      const faults = this.loaded === undefined ? found : this.loaded.warnings();
      return faults.map(({ code, severity, path }) => ({ code, severity, path }));
    }
    const engine = this.needed();
    const context = question.context ?? undefined;
    switch (question.ask) {
      case "resolve": {
        const table = engine.references();
        const { reply, reference } = engine.resolve(table, question.address, question.requireExists, context);
        return {
          reply: replied(reply),
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
        return replied(engine.enforce(operation, context));
      }
      case "gate": {
        const { verdict, argsForTransport } = engine.gate(question.request, context, undefined);
        const explanation = engine.explainGate(question.request, context, undefined, "agent");
        return {
          verdict: verdictOf(verdict),
          argsForTransport: argsForTransport === undefined ? null : JSON.parse(argsForTransport),
          explanation: explained(explanation, verdictOf),
        };
      }
      case "evaluate": {
        const verdict = verdictOf(engine.evaluate(question.request, context));
        return {
          verdict,
          explanation: explained(engine.explain(question.request, context, "operator"), verdictOf),
        };
      }
      case "references":
        return referenceSteps(engine, question.steps);
      default:
        throw new SyntaxError(`nothing here answers \`${question.ask}\``);
    }
  }

  whitelist(script) {
    const patterns = [];
    const extract = script.extract.map((one) => {
      const found = this.engine.approvalCandidates(escalationOf(one), "escalation", one.reason);
      patterns.push(...found);
      return { patterns: found.map(shownPattern), descriptions: found.map(({ description }) => description) };
    });
    const match = script.match.map((one) => this.engine.findApproval(patterns, escalationOf(one)) ?? -1);
    return { extract, match };
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
        const container = operation.containerWorkspaceDir ?? undefined;
        const { verdict, argsForTransport } = this.needed().gate(operation.request, undefined, container);
        const sent = argsForTransport === undefined ? null : JSON.parse(argsForTransport);
        return { verdict: verdictOf(verdict), argsForTransport: sent };
      }
      case "explain":
        return explained(this.needed().explain(operation.request, undefined, "operator"), verdictOf);
      case "semantics": {
        const found = this.needed().semantics({ server: operation.server, name: operation.tool });
        return found === undefined ? null : described(found);
      }
      case "diagnostics":
        return this.needed().warnings().map(line);
      case "world":
        return this.world(operation);
      case "getAnnotation": {
        const roles = this.needed().annotation(callText(operation));
        return roles === undefined ? null : { args: rolesOf(roles) };
      }
      case "prepareToolArgs": {
        const { allowedDirectory, containerWorkspaceDir } = operation;
        const prepared = this.needed().prepare(
          callText(operation),
          allowedDirectory ?? undefined,
          containerWorkspaceDir ?? undefined,
        );
        return {
          argsForTransport: JSON.parse(prepared.argsForTransport),
          argsForPolicy: JSON.parse(prepared.argsForPolicy),
        };
      }
      case "function": {
        const call = functions[operation.name];
        if (call === undefined) {
          throw new SyntaxError(`there is no function \`${operation.name}\``);
        }
        return call(this.engine, ...operation.args);
      }
      case "whitelist":
        return this.whitelist(operation);
      default:
        throw new SyntaxError(`nothing here does \`${operation.op}\``);
    }
  }
}

const callText = ({ server, tool, args }) =>
  `{"serverName":${JSON.stringify(server)},"toolName":${JSON.stringify(tool)},"arguments":${args}}`;

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
