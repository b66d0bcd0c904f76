// Three hosts: a virtual machine, a host of your own, and a recording.
import { createEngine, createRecordedHost, createVirtualHost } from "callgate";

const config = {
  policy: { rules: [] },
  annotations: { servers: { filesystem: { tools: [{ toolName: "read", args: { path: "read-path" } }] } } },
  sandbox: "/box",
};
const read = (path) => ({ serverName: "filesystem", toolName: "read", arguments: { path } });
const show = (name, verdict) => console.log(name, verdict.decision, verdict.rule);

// For tests and pages: the real machine is not asked.
const world = createVirtualHost({
  home: "/home/u",
  cwd: "/",
  fs: { dirs: ["/box", "/etc"], files: ["/box/a", "/etc/passwd"], links: { "/box/out": "/etc/passwd" } },
});
const engine = createEngine({ ...config, host: world });
show("virtual", engine.evaluate(read("/box/a")));
show("virtual", engine.evaluate(read("/box/out")));

// A host of your own: a store of files without links.
const store = new Map([
  ["/box", "directory"],
  ["/box/a", "file"],
]);
const own = {
  homeDir: "/",
  currentDir: "/",
  realpath: (path) => (path === "/" || store.has(path) ? path : { error: "not-found" }),
  readLink: () => undefined,
  isDirectory: (path) => store.get(path) === "directory",
  gitRemoteUrls: () => [],
  gitDefaultRemoteUrls: () => [],
  gitUrl: (_repository, url) => [url],
  gitBranch: () => {
    throw new Error("the store has no repositories");
  },
  gitPushRefs: () => [],
  gitCheckIgnore: () => undefined,
};
show("own", createEngine({ ...config, host: own }).evaluate(read("/box/new/file")));

// If a host fails, the call is denied, and the engine keeps working.
const failing = {
  ...own,
  realpath() {
    throw new Error("the store is offline");
  },
};
show("failing", createEngine({ ...config, host: failing }).evaluate(read("/box/a")));

// The answers that were recorded during one evaluation give the same verdict anywhere.
const { recording } = engine.explain(read("/box/out"));
show("recorded", createEngine({ ...config, host: createRecordedHost(recording) }).evaluate(read("/box/out")));

// Prints:
// virtual allow structural-sandbox-allow
// virtual deny default-deny
// own allow structural-sandbox-allow
// failing deny structural-host-error
// recorded deny default-deny
