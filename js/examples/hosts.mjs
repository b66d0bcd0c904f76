// Where the engine's answers come from: a world that is data, a host of one's own, and a recording.
import { createEngine, createRecordedHost, createVirtualHost } from "callgate";

const config = {
  policy: { generatedAt: "", constitutionHash: "", inputHash: "", rules: [] },
  annotations: {
    generatedAt: "",
    servers: {
      filesystem: {
        inputHash: "",
        tools: [{ toolName: "read", serverName: "filesystem", comment: "", args: { path: ["read-path"] } }],
      },
    },
  },
  allowedDirectory: "/box",
};
const read = (path) => ({ serverName: "filesystem", toolName: "read", arguments: { path } });
const show = (name, verdict) => console.log(name, verdict.decision, verdict.rule);

// For tests, and for pages: nothing of a machine is asked.
const world = createVirtualHost({
  home: "/home/u",
  cwd: "/",
  fs: { dirs: ["/box", "/etc"], files: ["/box/a", "/etc/passwd"], links: { "/box/out": "/etc/passwd" } },
});
const engine = createEngine({ ...config, host: world });
show("virtual", engine.evaluate(read("/box/a")));
show("virtual", engine.evaluate(read("/box/out")));

// A host of one's own: a store of files that has no links.
const store = new Map([
  ["/box", "directory"],
  ["/box/a", "file"],
]);
const own = {
  homeDir: "/",
  currentDir: "/",
  realpath: (path) => (path === "/" || store.has(path) ? path : { error: "not-found" }),
  isDirectory: (path) => store.get(path) === "directory",
  gitRemoteUrls: () => [],
  gitDefaultRemoteUrls: () => [],
};
show("own", createEngine({ ...config, host: own }).evaluate(read("/box/new/file")));

// A host that fails denies the call, and the engine works on.
const failing = {
  ...own,
  realpath() {
    throw new Error("the store is away");
  },
};
show("failing", createEngine({ ...config, host: failing }).evaluate(read("/box/a")));

// What was answered during one evaluation gives the same verdict again, anywhere.
const { recording } = engine.explain(read("/box/out"));
show("recorded", createEngine({ ...config, host: createRecordedHost(recording) }).evaluate(read("/box/out")));

// Prints:
// virtual allow structural-sandbox-allow
// virtual deny default-deny
// own allow structural-sandbox-allow
// failing deny structural-host-error
// recorded deny default-deny
