// The steps of every host with the installed package: one engine, four verdicts.
export const EXPECTED = ["allow", "deny", "escalate", "deny"];

export function judge(callgate) {
  const rule = (name, conditions, then) => ({
    name,
    description: "",
    principle: "",
    if: conditions,
    then,
    reason: "",
  });
  const tool = (serverName, toolName, args) => ({ serverName, toolName, comment: "", args });
  const engine = callgate.createEngine({
    policy: {
      generatedAt: "",
      constitutionHash: "",
      inputHash: "",
      rules: [rule("ask", { roles: ["write-path"] }, "escalate")],
    },
    annotations: {
      generatedAt: "",
      servers: {
        filesystem: {
          inputHash: "",
          tools: [
            tool("filesystem", "read", { path: ["read-path"] }),
            tool("filesystem", "write", { path: ["write-path"], content: ["none"] }),
          ],
        },
      },
    },
    sandbox: "/box",
    protectedPaths: ["/home/u/.ssh"],
    host: callgate.createVirtualHost({
      home: "/home/u",
      cwd: "/",
      fs: { dirs: ["/box", "/home/u/.ssh"], links: { "/box/out": "/home/u/.ssh" } },
    }),
  });
  const calls = [
    ["read", { path: "/box/a" }],
    ["read", { path: "/box/out/id" }],
    ["write", { path: "/srv/a", content: "é€😀".repeat(100) }],
    ["read", { path: "/box/\ud800" }],
  ];
  const verdicts = calls.map(([toolName, args]) => {
    const call = { serverName: "filesystem", toolName, arguments: args };
    const { verdict } = engine.gate(call);
    if (engine.explainGate(call).verdict.rule !== verdict.rule) {
      throw new Error(`the explanation has another verdict: ${verdict.rule}`);
    }
    return verdict.decision;
  });
  engine.dispose();
  return verdicts;
}
