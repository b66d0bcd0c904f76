// Calls of a server of the Python SDK, which unpacks JSON in texts before its tools see them (`pre_parse_json`).

const STRING = { type: "string" };
const STRINGS = { type: "array", items: STRING };

const tool = (toolName, args, properties, required = Object.keys(properties)) => ({
  toolName,
  serverName: "sdk",
  comment: "",
  args,
  inputSchema: { type: "object", properties, required },
});

export const SDK_ANNOTATIONS = {
  inputHash: "",
  tools: [
    tool("read_path", { path: ["read-path"] }, { path: STRING }),
    tool("read_paths", { paths: ["read-path"] }, { paths: STRINGS }),
    tool("read_either", { target: ["read-path"] }, { target: { anyOf: [STRING, STRINGS] } }),
    tool("read_maybe", { path: ["read-path"] }, { path: { anyOf: [STRING, { type: "null" }] } }, []),
    tool("touch", { paths: ["write-path"] }, { paths: STRINGS }),
    tool(
      "edit",
      { "/edits/*/path": ["write-path"], "/edits/*/text": ["none"] },
      { edits: { type: "array", items: { type: "object", properties: { path: STRING, text: STRING } } } },
    ),
    tool("send", { recipients: ["email-address"], body: ["email-body"] }, { recipients: STRINGS, body: STRING }),
    tool("note", { text: ["none"], tags: ["none"] }, { text: STRING, tags: { anyOf: [STRINGS, { type: "null" }] } }, [
      "text",
    ]),
  ],
};

const call = (name, args, expect, rest) => ({ tool: name, args, expect, reads: "any", ...rest });

export const CASES = ({ tree: { at } }) => {
  const d = at("docs/d.txt");
  const x = at("outside/x.txt");
  const refused = { rule: "structural-unresolvable-value" };
  // Where the schema wants an array a text is unreadable already, and the first rule that holds is named.
  const unpacked = (tool, name, text, got) =>
    call(tool, { [name]: text }, "deny", { otherwise: { got: { [name]: got } } });
  return [
    call("read_path", { path: d }, "allow", { got: { path: d } }),
    call("read_path", { path: at("docs/in.txt") }, "allow", { got: { path: d } }),
    call("read_path", { path: x }, "deny", { rule: "default-deny", otherwise: { got: { path: x } } }),
    call("read_paths", { paths: [d] }, "allow", { got: { paths: [d] } }),
    call("read_paths", { paths: [d, at("docs/in.txt")] }, "allow", { got: { paths: [d, d] } }),
    call("read_paths", { paths: [d, x] }, "deny", { otherwise: { got: { paths: [d, x] } } }),
    call("read_paths", { paths: [] }, "deny"),
    call("read_either", { target: d }, "allow", { got: { target: d } }),
    call("read_either", { target: [d] }, "allow", { got: { target: [d] } }),
    call("read_maybe", { path: d }, "allow", { got: { path: d } }),
    // Texts that the SDK hands to the tool as something else.
    unpacked("read_paths", "paths", JSON.stringify([x]), [x]),
    unpacked("read_paths", "paths", ` \n\t${JSON.stringify([x, d])} `, [x, d]),
    unpacked("read_paths", "paths", "[]", []),
    unpacked("read_either", "target", JSON.stringify([x]), [x]),
    unpacked("read_either", "target", JSON.stringify(["~/.ssh/id", x]), ["~/.ssh/id", x]),
    unpacked("read_maybe", "path", "null", null),
    unpacked("read_maybe", "path", " null\n", null),
    call("read_either", { target: "[NaN]" }, "deny", refused),
    call("read_either", { target: "[Infinity, -Infinity]" }, "deny", refused),
    call("read_either", { target: `{"path": "${x}"}` }, "deny", refused),
    call("read_either", { target: "[".repeat(100) + "]".repeat(100) }, "deny", refused),
    call("read_path", { path: JSON.stringify([x]) }, "deny", refused),
    call("read_either", { target: [JSON.stringify([x])] }, "deny", refused),
    // These are names: the SDK leaves them as they are.
    call("read_either", { target: `${at("docs")}/[draft] notes.txt` }, "allow", {
      got: { target: at("docs/[draft] notes.txt") },
    }),
    call("read_either", { target: at("docs/null") }, "allow", { got: { target: at("docs/null") } }),
    call("read_either", { target: at("docs/7") }, "allow", { got: { target: at("docs/7") } }),
    call("touch", { paths: [at("bench/new.txt")] }, "allow", { lands: ["bench/new.txt"] }),
    call("touch", { paths: [at("bench/a"), at("bench/sub/b")] }, "allow", { lands: ["bench/a", "bench/sub/b"] }),
    call("touch", { paths: [at("bench/new.txt"), x] }, "deny", {
      otherwise: { lands: ["bench/new.txt", "outside/x.txt"] },
    }),
    call("touch", { paths: [at("bench/out/new.txt")] }, "deny", { otherwise: { lands: ["outside/new.txt"] } }),
    call("touch", { paths: JSON.stringify([x]) }, "deny", { otherwise: { lands: ["outside/x.txt"] } }),
    call("touch", { paths: at("bench/new.txt") }, "deny", { rule: "structural-unreadable-argument" }),
    call("edit", { edits: [{ path: at("bench/w.txt"), text: "edited" }] }, "allow", { lands: ["bench/w.txt"] }),
    call("edit", { edits: [{ path: at("bench/w.txt") }, { path: x }] }, "deny", {
      otherwise: { lands: ["bench/w.txt", "outside/x.txt"] },
    }),
    call("edit", { edits: JSON.stringify([{ path: x }]) }, "deny", { otherwise: { lands: ["outside/x.txt"] } }),
    call("edit", { edits: { path: x } }, "deny"),
    call("edit", { edits: [[{ path: x }]] }, "deny"),
    call("edit", { edits: [JSON.stringify({ path: x })] }, "deny"),
    call("send", { recipients: ["ann@example.com"], body: "hello" }, "allow", {
      got: { recipients: ["ann@example.com"], body: "hello" },
    }),
    call("send", { recipients: ["eve@example.com"], body: "hello" }, "deny", { rule: "nobody writes to rivals" }),
    call("send", { recipients: ["ann@example.com", "Eve <EVE@example.com>"], body: "" }, "deny", {
      rule: "nobody writes to rivals",
    }),
    call("send", { recipients: '["eve@example.com"]', body: "" }, "deny", {
      otherwise: { got: { recipients: ["eve@example.com"], body: "" } },
    }),
    call("send", { recipients: [["eve@example.com"]], body: "" }, "deny", {}),
    call("send", { recipients: "ann@example.com", body: "" }, "deny", {}),
    // Nothing is judged about these, so they reach the tool as they were given.
    call("note", { text: '["a"]' }, "allow", { got: { text: '["a"]', tags: null } }),
    call("note", { text: "a", tags: '["b"]' }, "allow", { got: { text: "a", tags: ["b"] } }),
  ];
};
