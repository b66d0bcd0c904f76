// Roles that a program defines. They work wherever a built-in role does.
import { createEngine, createVirtualHost } from "callgate";

const engine = createEngine({
  roles: [
    {
      name: "ticket",
      description: "A ticket of our tracker, written with or without its project.",
      category: "identifier",
      // A callback returns a string. If it throws, or returns anything else, the call is denied.
      canonicalize: (value) =>
        value
          .trim()
          .toUpperCase()
          .replace(/^(?=\d)/, "APP-"),
    },
    {
      name: "page",
      description: "A page whose domain is what matters.",
      category: "url",
      extractPolicyValue: "domain",
    },
    {
      name: "token",
      description: "A secret that policy must not see.",
      category: "opaque",
      extractPolicyValue: "redact",
    },
    { name: "remark", description: "Text that people will read.", category: "opaque", canonicalize: "strip-control" },
  ],
  policy: {
    rules: [
      {
        name: "own-tickets",
        if: { lists: [{ roles: "ticket", allowed: ["APP-7"], matchType: "identifiers" }] },
        then: "allow",
        reason: "The ticket is the agent's",
      },
      {
        name: "known-pages",
        if: { domains: { roles: "page", allowed: ["*.example.com"] } },
        then: "allow",
        reason: "The page is ours",
      },
    ],
  },
  annotations: {
    servers: {
      tracker: {
        tools: [
          {
            toolName: "comment",
            args: { ticket: "ticket", see: "page", token: "token", text: "remark" },
          },
        ],
      },
    },
  },
  host: createVirtualHost({ home: "/home/u", cwd: "/" }),
});

for (const args of [
  { ticket: "7", see: "https://wiki.example.com/plan", token: "hunter2", text: "done\u001b[2J" },
  { ticket: "app-8", see: "https://wiki.example.com/plan", token: "hunter2", text: "done" },
  { ticket: "7", see: "https://elsewhere.example/", token: "hunter2", text: "done" },
]) {
  const call = { serverName: "tracker", toolName: "comment", arguments: args };
  const { verdict, argsForTransport } = engine.gate(call);
  console.log(verdict.decision, verdict.rule, JSON.stringify(argsForTransport));
  console.log("  policy saw", JSON.stringify(engine.prepare(call).argsForPolicy));
}

// Prints:
// allow own-tickets {"ticket":"APP-7","see":"https://wiki.example.com/plan","token":"hunter2","text":"done[2J"}
//   policy saw {"ticket":"APP-7","see":"wiki.example.com","token":"[redacted]","text":"done[2J"}
// deny default-deny {"ticket":"APP-8","see":"https://wiki.example.com/plan","token":"hunter2","text":"done"}
//   policy saw {"ticket":"APP-8","see":"wiki.example.com","token":"[redacted]","text":"done"}
// deny default-deny {"ticket":"APP-7","see":"https://elsewhere.example","token":"hunter2","text":"done"}
//   policy saw {"ticket":"APP-7","see":"elsewhere.example","token":"[redacted]","text":"done"}
