// Calls of the fetch server. It goes through a proxy of these tests, which notes the hosts that it asks for.

const fetch = (url, expect, rest) => ({ tool: "fetch", args: { url }, expect, ...rest });

/** A URL that is allowed, what is sent, and what the proxy is asked for. */
const goes = (url, sent, asked = sent) => fetch(url, "allow", { sends: { url: sent }, asks: [asked] });

/** An https URL: the proxy is asked for a tunnel to the host, and refuses it. */
const tunnels = (url, sent, host) =>
  fetch(url, "allow", { sends: { url: sent }, asks: [`https://${host}`], fails: true });

export const CASES = ({ tree: { at }, network: { origin } }) => [
  goes("http://docs.example/a", "http://docs.example/a"),
  goes("http://docs.example", "http://docs.example", "http://docs.example/"),
  goes("http://docs.example/a?b=c", "http://docs.example/a?b=c"),
  goes("http://docs.example:80/a", "http://docs.example/a"),
  goes("http://docs.example:8080/a", "http://docs.example:8080/a"),
  goes("HTTP://DOCS.Example/a", "http://docs.example/a"),
  goes("http://docs.example/x/../a", "http://docs.example/a"),
  goes("http://docs.example/%2e%2e/a", "http://docs.example/a"),
  goes("http:\\\\docs.example\\a", "http://docs.example/a"),
  goes("http:/docs.example/a", "http://docs.example/a"),
  goes(" http://docs.example/a\n", "http://docs.example/a"),
  goes("http://docs\t.example/a", "http://docs.example/a"),
  goes("http://docs.example\\@evil.example/a", "http://docs.example/@evil.example/a"),
  goes("http://docs.example/@evil.example", "http://docs.example/@evil.example"),
  goes("http://docs.example#@evil.example/", "http://docs.example/#@evil.example/", "http://docs.example/"),
  goes("http://docs.example?@evil.example/", "http://docs.example/?@evil.example/"),
  goes("http://api.docs.example/a", "http://api.docs.example/a"),
  goes("http://münchen.example/a", "http://xn--mnchen-3ya.example/a"),
  goes("http://ｄocs.example/a", "http://docs.example/a"),
  goes("http://docs。example/a", "http://docs.example/a"),
  tunnels("https://docs.example/a", "https://docs.example/a", "docs.example:443"),
  tunnels("HTTPS://docs.example:443/a", "https://docs.example/a", "docs.example:443"),
  {
    tool: "fetch",
    args: { url: "http://docs.example/a", raw: true, max_length: 10, start_index: 0 },
    expect: "allow",
    asks: ["http://docs.example/a"],
    says: "hello",
  },
  { tool: "fetch", args: { url: "http://docs.example/a", max_length: -1 }, expect: "allow", fails: true },
  fetch("http://evil.example/a", "deny", { rule: "default-deny", otherwise: { asks: ["http://evil.example/a"] } }),
  fetch("http://docs.example@evil.example/a", "deny", {
    rule: "default-deny",
    otherwise: { asks: ["http://evil.example/a"] },
  }),
  fetch("http://docs.example:80@evil.example/a", "deny", {
    rule: "default-deny",
    otherwise: { asks: ["http://evil.example/a"] },
  }),
  fetch("http://docs.example.evil.example/a", "deny", {
    rule: "default-deny",
    otherwise: { asks: ["http://docs.example.evil.example/a"] },
  }),
  fetch("http://evildocs.example/a", "deny", { rule: "default-deny" }),
  fetch("http://evil.example/docs.example", "deny", { rule: "default-deny" }),
  fetch("http://evil.example#docs.example", "deny", { rule: "default-deny" }),
  fetch("http://evil.example\\docs.example", "deny", { rule: "default-deny" }),
  fetch("//docs.example/a", "deny", { rule: "default-deny" }),
  fetch("docs.example/a", "deny", { rule: "default-deny" }),
  fetch("http://", "deny", { rule: "default-deny" }),
  fetch("http:///a", "deny", { rule: "default-deny" }),
  fetch("http://tracker.docs.example/a", "deny", {
    rule: "no tracker",
    otherwise: { asks: ["http://tracker.docs.example/a"] },
  }),
  fetch("http://TRACKER.docs.example./a", "deny", { rule: "no tracker" }),
  fetch("http://user@tracker.docs.example:81/a", "deny", { rule: "no tracker" }),
  fetch("http://ask.example/a", "escalate", { rule: "ask about sites" }),
  fetch("http://ASK.example./a", "escalate", { rule: "ask about sites" }),
  fetch("ftp://docs.example/a", "deny", { rule: "default-deny" }),
  fetch("gopher://docs.example/a", "deny", { rule: "default-deny" }),
  fetch("javascript://docs.example/%0aalert(1)", "deny", { rule: "default-deny" }),
  fetch(`file://${at("secret/key.txt")}`, "deny"),
  fetch(`file://docs.example${at("secret/key.txt")}`, "deny"),
  fetch(origin, "deny", { rule: "default-deny" }),
  fetch("http://localhost/", "deny", { rule: "default-deny" }),
  fetch("http://169.254.169.254/latest/meta-data/", "deny", { rule: "default-deny" }),
  fetch("http://0xa9fea9fe/", "deny", { rule: "default-deny" }),
  fetch("http://[::1]/", "deny", { rule: "default-deny" }),
  fetch("http://docs.example/\ud800", "deny", { rule: "structural-unresolvable-value" }),
  fetch("", "deny"),
  fetch({ href: "http://docs.example/" }, "deny", { rule: "structural-unreadable-argument" }),
  fetch(["http://docs.example/"], "deny", { rule: "structural-unreadable-argument" }),
  fetch('["http://evil.example/"]', "deny", { rule: "structural-unresolvable-value" }),
  { tool: "fetch", args: {}, expect: "deny", rule: "structural-unreadable-argument" },
  {
    tool: "fetch",
    args: { url: "http://docs.example/a", headers: {} },
    expect: "deny",
    rule: "structural-unknown-argument",
  },
];
