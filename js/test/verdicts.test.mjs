// Calls that differ in a single value are judged separately.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "callgate";
import { annotationsOf, call, host, policyOf, SANDBOX } from "./support.mjs";

const annotations = annotationsOf({
  fetch: { get: { url: ["fetch-url"], format: ["none"] } },
  github: {
    read: { owner: ["github-owner"], branch: ["branch-name"], page: ["none"] },
    list: { owner: ["github-owner"], branch: ["branch-name"] },
    need: { owner: ["github-owner"], page: ["none"] },
  },
});
annotations.servers.github.tools.find(({ toolName }) => toolName === "need").arg_schema = { required: ["page"] };
const web = createEngine({
  policy: policyOf(
    { if: { domains: { roles: ["fetch-url"], allowed: ["good.test", "*.good.test"] } }, then: "allow" },
    { if: { server: ["fetch"], domains: { roles: ["fetch-url"], allowed: ["evil.test"] } }, then: "deny" },
    { if: { server: ["fetch"] }, then: "escalate" },
    { if: { server: ["github"], tool: ["read", "need"] }, then: "allow" },
    {
      if: { tool: ["list"], lists: [{ roles: ["github-owner"], allowed: ["acme"], matchType: "identifiers" }] },
      then: "allow",
    },
  ),
  annotations,
  domainAllowlists: { fetch: ["*.test"] },
  sandbox: SANDBOX,
  host,
});

function judges(server, tool, args, decision) {
  assert.equal(web.evaluate(call(server, tool, args)).decision, decision, JSON.stringify(args));
}

test("an identifier is judged in each call", () => {
  judges("github", "read", { owner: "acme", branch: "dev" }, "allow");
  judges("github", "read", { owner: "new", branch: "dev" }, "allow");
  judges("github", "read", { owner: "new", branch: "-d" }, "deny");
  judges("github", "list", { owner: "acme", branch: "dev" }, "allow");
  judges("github", "list", { owner: "new", branch: "dev" }, "deny");
  judges("github", "need", { owner: "acme", page: 1 }, "allow");
  judges("github", "need", { owner: "acme", page: null }, "deny");
});

test("a URL is judged in each call", () => {
  const get = (url) => web.evaluate(call("fetch", "get", { url }));
  const first = get("https://elsewhere.example/a");
  assert.equal(first.rule, "structural-domain-escalate");
  assert.match(first.reason, /elsewhere\.example/);
  const second = get("https://elsewhere.example/b?c#d");
  assert.deepEqual({ ...second, reason: first.reason }, first);
  assert.match(second.reason, /\(argument "url": "https:\/\/elsewhere\.example\/b\?c#d"\)$/);
  assert.match(get("https://other.example/a").reason, /other\.example/);
  assert.equal(get("https://good.test/x").decision, "allow");
  assert.equal(get("https://evil.test/good.test/x").decision, "deny");
  for (let index = 0; index < 1000; index++) {
    assert.match(get(`https://s${index}.example/x`).reason, new RegExp(`"s${index}\\.example"`));
  }
});

test("the host is asked in each call", () => {
  const answers = [["https://github.com/o/r"], ["https://evil.test/o/r"]];
  const asking = createEngine({
    policy: policyOf({ if: { server: ["git"] }, then: "allow" }),
    annotations: annotationsOf({ git: { push: { path: ["read-path"], remote: ["git-remote-url"] } } }),
    domainAllowlists: { git: ["github.com"] },
    host: { ...host, gitDefaultRemoteUrls: () => answers[0] },
  });
  const push = () => asking.evaluate(call("git", "push", { path: "/repo" })).decision;
  assert.deepEqual([push(), push()], ["allow", "allow"]);
  answers.shift();
  assert.equal(push(), "escalate");
});
