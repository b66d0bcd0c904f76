// Verdicts that are cached: they are what they would have been.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "callgate";
import { annotationsOf, call, host, policyOf, SANDBOX } from "./support.mjs";

const WEB = {
  fetch: {
    get: { url: ["fetch-url"], format: ["none"] },
    two: { url: ["fetch-url"], then: ["fetch-url"] },
  },
  github: {
    read: { owner: ["github-owner"], branch: ["branch-name"], page: ["none"] },
    list: { owner: ["github-owner"], branch: ["branch-name"] },
    need: { owner: ["github-owner"], page: ["none"] },
    file: { owner: ["github-owner"], path: ["read-path"] },
  },
};
const annotations = annotationsOf(WEB);
annotations.servers.github.tools.find(({ toolName }) => toolName === "need").arg_schema = { required: ["page"] };
const web = createEngine({
  policy: policyOf(
    { if: { domains: { roles: ["fetch-url"], allowed: ["good.test", "*.good.test", "127.0.0.1"] } }, then: "allow" },
    { if: { server: ["fetch"], domains: { roles: ["fetch-url"], allowed: ["evil.test"] } }, then: "deny" },
    { if: { server: ["fetch"] }, then: "escalate" },
    { if: { server: ["github"], tool: ["read", "need", "file"] }, then: "allow" },
    {
      if: { tool: ["list"], lists: [{ roles: ["github-owner"], allowed: ["acme"], matchType: "identifiers" }] },
      then: "allow",
    },
  ),
  annotations,
  serverDomainAllowlists: { fetch: ["*.test", "127.0.0.1", "localhost"] },
  allowedDirectory: SANDBOX,
  protectedPaths: ["/home/u/.ssh"],
  host,
});

/** The verdict of a call that has no key, since a context stands beside it. */
const alone = (request) => web.evaluate(request, { context: {} });

/** Asks for each of the calls in turn, often enough that verdicts are cached. */
function check(requests) {
  for (const request of [...requests, ...requests]) {
    assert.deepEqual(web.evaluate(request), alone(request), JSON.stringify(request));
  }
}

/** Texts of up to `most` pieces, the same ones in every run. */
function* texts(pieces, most, count) {
  let state = 42;
  const next = (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let index = 0; index < count; index++) {
    yield Array.from({ length: next(most + 1) }, () => pieces[next(pieces.length)]).join("");
  }
}

test("identifiers share a verdict only where they are plain and nothing looks at them", () => {
  const odd = [
    "",
    "-x",
    ".github",
    "~",
    "/home/u/.ssh",
    "a\0b",
    "é",
    "\ud800",
    "x".repeat(1024),
    "x".repeat(1025),
    "x".repeat(100_000),
  ];
  const values = ["acme", "ACME", "evil", "a b", ...odd, 1, null, undefined, true, ["acme"], ["-x"], { owner: "acme" }];
  for (const tool of ["read", "list", "file"]) {
    check(values.flatMap((owner) => values.map((branch) => call("github", tool, { owner, branch }))));
    check(values.map((page) => call("github", tool, { owner: "acme", branch: "main", page })));
    check(values.map((path) => call("github", tool, { owner: "acme", path })));
  }
  assert.equal(web.evaluate(call("github", "read", { owner: "new", branch: "dev" })).decision, "allow");
  assert.equal(web.evaluate(call("github", "read", { owner: "new", branch: "-d" })).decision, "deny");
  assert.equal(web.evaluate(call("github", "list", { owner: "acme", branch: "dev" })).decision, "allow");
  assert.equal(web.evaluate(call("github", "list", { owner: "new", branch: "dev" })).decision, "deny");
});

test("URLs share a verdict only where nothing but their origin can matter", () => {
  const plain = "https:// http:// good.test evil.test / @ ? # \\ : . %2e é".split(" ");
  const pieces = [...plain, " ", "\t", "\u0001", "\u007f", "\u0085", "/ https://evil.test/"];
  const begins = "a.good.test 127.0.0.1 localhost x - :443 u:p@ HTTPS://".split(" ");
  const origins = "https://good.test https://evil.test http://127.0.0.1 https://u@good.test https://good.test:1".split(
    " ",
  );
  const pages = origins.flatMap((origin) => [...texts(["/", ...pieces], 4, 300)].map((tail) => origin + tail));
  const long = `https://good.test/${"x".repeat(100_000)}`;
  const urls = [...texts([...pieces, ...begins], 5, 4000), ...pages, long];
  check(urls.map((url) => call("fetch", "get", { url, format: "text" })));
  check(pages.slice(0, 300).map((url, index) => call("fetch", "two", { url, then: pages[(index * 7) % 300] })));
});

test("what is required, and what would replace what is inherited, is looked for in each call", () => {
  const values = ['"x"', "1", "null", "{}", '{"x": 1}', "[]"];
  const named = values.flatMap((value) => [`{"__proto__": ${value}}`, `{"page": ${value}}`, `{"toJSON": ${value}}`]);
  const given = named.map((text) => JSON.parse(`{"owner": "acme", "branch": "main", ${text.slice(1)}`));
  check(given.map((args) => call("github", "read", args)));
  check(values.map((value) => call("github", "need", { owner: "acme", page: JSON.parse(value) })));
  assert.equal(web.evaluate(call("github", "need", { owner: "acme", page: null })).decision, "deny");
});

test("a page of an origin that was asked about has the same verdict, and one of another origin its own", () => {
  const get = (url) => web.evaluate(call("fetch", "get", { url }));
  const first = get("https://elsewhere.example/a");
  assert.equal(first.rule, "structural-domain-escalate");
  assert.match(first.reason, /elsewhere\.example/);
  assert.equal(get("https://elsewhere.example/b?c#d"), first);
  assert.equal(get("https://elsewhere.example"), first);
  assert.notEqual(get("https://elsewhere.example:8443/a"), first);
  assert.notEqual(alone(call("fetch", "get", { url: "https://elsewhere.example/a" })), first);
  assert.match(get("https://other.example/a").reason, /other\.example/);
  assert.equal(get("https://good.test/x").decision, "allow");
  assert.equal(get("https://evil.test/good.test/x").decision, "deny");
});

test("origins without number are judged, each by itself", () => {
  for (let index = 0; index < 1000; index++) {
    const verdict = web.evaluate(call("fetch", "get", { url: `https://s${index}.example/x` }));
    assert.match(verdict.reason, new RegExp(`"s${index}\\.example"`));
  }
});

test("where the host was asked, it is asked again", () => {
  const answers = [["https://github.com/o/r"], ["https://evil.test/o/r"]];
  const asking = createEngine({
    policy: policyOf({ if: { server: ["git"] }, then: "allow" }),
    annotations: annotationsOf({ git: { push: { remote: ["git-remote-url"], force: ["none"] } } }),
    serverDomainAllowlists: { git: ["github.com"] },
    host: { ...host, gitDefaultRemoteUrls: () => answers[0] },
  });
  const push = () => asking.evaluate(call("git", "push", { force: true })).decision;
  assert.deepEqual([push(), push()], ["allow", "allow"]);
  answers.shift();
  assert.equal(push(), "escalate");
});
