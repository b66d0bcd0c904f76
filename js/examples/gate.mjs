// Gates tool calls on this machine's disk and git. What was judged is what is sent.
import { readFileSync } from "node:fs";
import { CallgateError, createEngine } from "callgate";

const bundle = new URL("../../host-shim/examples/bundle/", import.meta.url);
const text = (name) => readFileSync(new URL(name, bundle), "utf8");

let engine;
try {
  engine = createEngine({
    policy: text("policy.json"),
    annotations: text("annotations.json"),
    sandbox: process.cwd(),
    // Whoever writes the hooks or the configuration in `.git` runs programs.
    protectedPaths: ["~/.ssh", "~/.aws", `${process.cwd()}/.git`],
    domainAllowlists: { fetch: ["docs.rs", "*.github.com"] },
    options: { unknownArguments: "deny" },
  });
} catch (error) {
  // Prints every fault of every document, with its place.
  const faults = error instanceof CallgateError ? error.diagnostics : [];
  for (const { path, code, message, help } of faults) {
    console.error(`${path}: ${message} [${code}] ${help ?? ""}`);
  }
  throw error;
}
for (const { path, message } of engine.diagnostics) {
  console.error(`warning: ${path}: ${message}`);
}

const calls = [
  ["filesystem", "write_file", { path: "notes/../today.md", content: "# Today" }],
  ["filesystem", "read_text_file", { path: "/etc/hostname" }],
  ["filesystem", "read_text_file", { path: "~/.ssh/id_ed25519" }],
  ["filesystem", "write_file", { path: ".git/hooks/post-commit", content: "#!/bin/sh" }],
  ["filesystem", "read_text_file", { path: "today.md", encoding: "base64" }],
  ["git", "git_push", { repo_path: ".", remote: "https://github.com/acme/app.git", branch: "feature" }],
  ["git", "git_push", { repo_path: ".", remote: "https://github.com/acme/app.git", branch: "main" }],
  ["fetch", "fetch", { url: "https://docs.rs/url" }],
  ["fetch", "fetch", { url: "https://docs.rs.example/url" }],
];
for (const [serverName, toolName, args] of calls) {
  const { verdict, argsForTransport } = engine.gate({ serverName, toolName, arguments: args });
  switch (verdict.decision) {
    case "allow":
      // Here the server gets `argsForTransport`, never `args`.
      console.log("allow   ", toolName, Object.keys(argsForTransport).join(" "));
      break;
    case "escalate":
      // Here a person is asked.
      console.log("escalate", toolName, verdict.escalatedRoles.join(" "));
      break;
    case "deny":
      console.log("deny    ", toolName, verdict.rule);
      break;
  }
}
engine.dispose();

// Prints:
// allow    write_file path content
// escalate read_text_file read-path
// deny     read_text_file structural-protected-path
// deny     write_file structural-protected-path
// deny     read_text_file structural-unknown-argument
// allow    git_push repo_path remote branch
// deny     git_push deny-force-push
// allow    fetch url
// escalate fetch fetch-url
