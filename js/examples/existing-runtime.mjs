// How a runtime that calls its engine `PolicyEngine` handles a call. Only the import is new.
import { readFileSync } from "node:fs";
import {
  createApprovalWhitelist,
  createVirtualHost,
  extractPolicyRoots,
  extractWhitelistCandidates,
  PolicyEngine,
  prepareToolArgs,
  rewriteResultContent,
  setDefaultHost,
  toMcpRoots,
} from "callgate";

// This makes the output the same on every machine. A runtime leaves it out, and asks the machine that it runs on.
setDefaultHost(
  createVirtualHost({
    home: "/home/u",
    cwd: "/srv",
    fs: { dirs: ["/home/u/sandbox", "/home/u/Documents", "/srv"], files: ["/srv/data.csv", "/srv/more.csv"] },
  }),
);

const bundle = new URL("../../host-shim/examples/bundle/", import.meta.url);
const document = (name) => JSON.parse(readFileSync(new URL(name, bundle), "utf8"));
const policy = document("policy.json");
const sandbox = "/home/u/sandbox";
const engine = new PolicyEngine(
  policy,
  document("annotations.json"),
  ["~/.ssh"],
  sandbox,
  new Map([["fetch", ["docs.rs"]]]),
  undefined,
  new Set(["clock"]),
);
const approved = createApprovalWhitelist();

function judge(serverName, toolName, args) {
  if (engine.isTrustedServer(serverName)) {
    return { decision: "allow", rule: "trusted-server", sent: args };
  }
  const annotation = engine.getAnnotation(serverName, toolName, args);
  const { argsForTransport, argsForPolicy } = prepareToolArgs(args, annotation, sandbox, "/workspace");
  const verdict = engine.evaluate({ requestId: "1", serverName, toolName, arguments: argsForPolicy, timestamp: "now" });
  const { decision, escalatedRoles, reason } = verdict;
  if (decision === "escalate" && annotation !== undefined) {
    const found = approved.match(serverName, toolName, argsForPolicy, annotation, escalatedRoles);
    if (found.matched) {
      return { decision: "allow", rule: found.patternId, sent: argsForTransport };
    }
    // Here a person is asked, and approves all calls of this kind.
    const asked = extractWhitelistCandidates(
      serverName,
      toolName,
      argsForPolicy,
      annotation,
      escalatedRoles,
      "1",
      reason,
    );
    for (const pattern of asked.patterns) {
      console.log(pattern.description);
      approved.add(pattern);
    }
  }
  return { ...verdict, sent: argsForTransport };
}

for (const [server, tool, args] of [
  ["filesystem", "read_text_file", { path: "/workspace/./notes.md" }],
  ["filesystem", "read_text_file", { path: "/srv/data.csv" }],
  ["filesystem", "read_text_file", { path: "/srv/more.csv" }],
  ["filesystem", "read_text_file", { path: "~/.ssh/id_ed25519" }],
  ["clock", "now", {}],
]) {
  const { decision, rule, sent } = judge(server, tool, args);
  console.log(decision, rule, JSON.stringify(sent));
}
console.log(
  JSON.stringify(rewriteResultContent([{ type: "text", text: `${sandbox}/notes.md` }], sandbox, "/workspace")),
);
console.log(
  toMcpRoots(extractPolicyRoots(policy, sandbox))
    .map(({ uri }) => uri)
    .join(" "),
);

// Prints:
// allow structural-sandbox-allow {"path":"/home/u/sandbox/notes.md"}
// Allow filesystem/read_text_file read-path within /srv
// escalate ask-other-paths {"path":"/srv/data.csv"}
// allow approval-0 {"path":"/srv/more.csv"}
// deny structural-protected-path {"path":"/home/u/.ssh/id_ed25519"}
// allow trusted-server {}
// [{"type":"text","text":"/workspace/notes.md"}]
// file:///home/u/sandbox file:///home/u/Documents
