// Calls of the everything server. Its tools take no paths; one fetches a URL.
const READABLE = "arguments are read as their schema says (SPEC §5)";

const zip = (data, expect, rest) => ({
  tool: "gzip-file-as-resource",
  args: { name: "page.gz", data, outputType: "resourceLink" },
  expect,
  ...rest,
});

export const CASES = ({ tree: { at }, network: { origin, port } }) => [
  { tool: "echo", args: { message: "hello" }, expect: "allow", rule: "harmless tools", says: "Echo: hello" },
  { tool: "echo", args: { message: '["/etc/passwd"]' }, expect: "allow", says: 'Echo: ["/etc/passwd"]' },
  { tool: "echo", args: { message: "null" }, expect: "allow", says: "Echo: null" },
  { tool: "echo", args: { message: "~/notes and $HOME" }, expect: "allow", says: "Echo: ~/notes and $HOME" },
  // A text that looks like a protected path is one, whatever the annotation says.
  { tool: "echo", args: { message: at("secret/key.txt") }, expect: "deny", rule: "structural-protected-path" },
  { tool: "echo", args: { message: "~/.ssh/id" }, expect: "deny", rule: "structural-protected-path" },
  { tool: "echo", args: { message: "hello", loud: true }, expect: "deny", rule: "structural-unknown-argument" },
  { tool: "echo", args: ["hello"], expect: "deny", rule: "structural-unreadable-argument" },
  { tool: "get-sum", args: { a: 2, b: 3 }, expect: "allow", says: "5" },
  { tool: "get-sum", args: { a: -0.5, b: 1e21 }, expect: "allow", says: "1e+21" },
  { tool: "get-sum", args: { a: "2", b: 3 }, expect: "allow", fails: true },
  { tool: "get-annotated-message", args: { messageType: "success", includeImage: false }, expect: "allow" },
  { tool: "get-structured-content", args: { location: "Chicago" }, expect: "allow", says: "temperature" },
  { tool: "get-resource-links", args: { count: 2 }, expect: "allow" },
  { tool: "get-resource-reference", args: { resourceType: "Text", resourceId: 1 }, expect: "allow" },
  { tool: "get-tiny-image", args: {}, expect: "allow" },
  { tool: "get-env", args: {}, expect: "deny", rule: "default-deny", otherwise: { says: "HOME" } },
  { tool: "trigger-long-running-operation", args: { duration: 1, steps: 1 }, expect: "escalate" },
  { tool: "Echo", args: { message: "hello" }, expect: "deny", rule: "structural-unknown-tool" },
  { tool: "constructor", args: {}, expect: "deny", rule: "structural-unknown-tool" },
  zip(`${origin}/a`, "allow", { rule: "the local site", asks: [`${origin}/a`] }),
  zip(`${origin}/a?b=c#d`, "allow", { asks: [`${origin}/a?b=c`] }),
  zip(`${origin}/x/../a`, "allow", {
    sends: { name: "page.gz", data: `${origin}/a`, outputType: "resourceLink" },
    asks: [`${origin}/a`],
  }),
  zip(`HTTP://127.0.0.1:${port}/a`, "allow", { asks: [`${origin}/a`] }),
  zip(` ${origin}/a`, "allow", { asks: [`${origin}/a`] }),
  // Other spellings of the same address are the same address.
  zip(`http://127.1:${port}/a`, "allow", { asks: [`${origin}/a`] }),
  zip(`http://0x7f000001:${port}/a`, "allow", { asks: [`${origin}/a`] }),
  zip(`http://2130706433:${port}/a`, "allow", { asks: [`${origin}/a`] }),
  zip(`http:\\\\127.0.0.1:${port}\\a`, "allow", { asks: [`${origin}/a`] }),
  zip(`http://docs.example@127.0.0.1:${port}/a`, "allow", { fails: true }),
  zip(`http://localhost:${port}/a`, "deny", {
    rule: "default-deny",
    otherwise: { asks: [`http://localhost:${port}/a`] },
  }),
  zip(`http://127.0.0.1.docs.example:${port}/a`, "deny", { rule: "default-deny" }),
  zip(`http://127.0.0.1@localhost:${port}/a`, "deny", { rule: "default-deny" }),
  zip(`http://127.0.0.1#@localhost:${port}/a`, "allow", { fails: true }),
  zip(`http://[::ffff:127.0.0.1]:${port}/a`, "deny", { rule: "default-deny" }),
  zip("data:text/plain,hello", "deny", { rule: "default-deny", otherwise: {} }),
  zip(`file://${at("secret/key.txt")}`, "deny"),
  zip(`ftp://127.0.0.1:${port}/a`, "deny", { rule: "default-deny" }),
  zip("not a URL", "deny", { rule: "default-deny" }),
  zip("", "deny"),
  zip([`${origin}/a`], "deny", { rule: "structural-unreadable-argument", until: READABLE }),
  zip({ href: `${origin}/a` }, "deny", { rule: "structural-unreadable-argument" }),
];
