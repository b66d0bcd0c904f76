// The host for this machine: real links on a real disk, and real git configurations, without starting a process.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  createEngine,
  createNodeHost,
  expandTilde,
  isWithinDirectory,
  resolveDefaultGitRemote,
  resolveGitRemote,
  resolveRealPath,
  setDefaultHost,
} from "callgate";
import { beginReading } from "../dist/host/reading.js";
import { isThere } from "./tools/hosts.mjs";

let root;
let host;
const at = (path) => join(root, path);
const bytes = (path, name) => Buffer.concat([Buffer.from(`${at(path)}/`), Buffer.from(name, "latin1")]);

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "callgate-host-")));
  for (const folder of ["home", "box/deep/er", "outside", "xdg"]) {
    mkdirSync(at(folder), { recursive: true });
  }
  writeFileSync(at("box/file"), "");
  writeFileSync(at("outside/secret"), "");
  for (const [link, target] of [
    ["box/relative", "deep/er"],
    ["box/absolute", at("outside")],
    ["box/chain", "absolute"],
    ["box/up", "deep/er/../../../outside"],
    ["box/dangling", "../outside/new"],
    ["box/loop", "loop2"],
    ["box/loop2", "loop"],
    ["box/self", "/proc/self/cwd"],
    ["box/links-0", "file"],
  ]) {
    symlinkSync(target, at(link));
  }
  for (let index = 1; index < 45; index++) {
    symlinkSync(`links-${index - 1}`, at(`box/links-${index}`));
  }
  mkdirSync(bytes("box", "caf\u00e9"));
  symlinkSync(bytes("box", "caf\u00e9"), at("box/not-text"));
  host = createNodeHost({ homeDir: at("home"), currentDir: at("box") });
});
after(() => rmSync(root, { recursive: true, force: true }));

test("paths are canonical as the kernel has them", () => {
  for (const path of [
    "box",
    "box/file",
    "box/relative",
    "box/absolute/secret",
    "box/chain",
    "box/up",
    "box/links-39",
  ]) {
    assert.equal(host.realpath(at(path)), realpathSync.native(at(path)), path);
  }
  assert.equal(host.realpath("/"), "/");
});

test("a path without a canonical form says why", () => {
  for (const [path, error] of [
    ["box/none", { error: "not-found", nearest: at("box") }],
    ["box/none/of/these", { error: "not-found", nearest: at("box") }],
    ["box/file/below", { error: "not-found", nearest: at("box/file") }],
    ["box/loop", { error: "loop" }],
    ["box/links-44", { error: "loop" }],
    ["box/self", { error: "other" }],
    ["box/not-text", { error: "not-utf8" }],
    // Longer than Linux's PATH_MAX, and than its NAME_MAX.
    [`box/${"d/".repeat(2048)}a`, { error: "other" }],
    [`box/${"a".repeat(256)}`, { error: "other" }],
  ]) {
    assert.deepEqual(host.realpath(at(path)), error, path);
  }
  for (const path of ["/proc/self", `/proc/${process.pid}/cwd`, "/proc/thread-self/fd", "/dev/fd/0", "/a\0b"]) {
    assert.deepEqual(host.realpath(path), { error: "other" }, path);
  }
});

/** Does something while the operating system refuses a path with a code, as it does not for a process of root. */
function refusing(path, code, act) {
  const names = ["lstatSync", "statSync", "openSync", "accessSync", "readlinkSync"];
  const kept = [...names, "existsSync"].map((name) => [name, fs[name]]);
  const { native } = fs.realpathSync;
  const isIt = (given) => String(given) === path || String(given).startsWith(`${path}/`);
  const refused = (original) =>
    function refusal(given, ...rest) {
      if (isIt(given)) {
        throw Object.assign(new Error(`${code}: refused`), { code });
      }
      return original.call(fs, given, ...rest);
    };
  for (const name of names) {
    fs[name] = refused(fs[name]);
  }
  const { existsSync } = fs;
  fs.existsSync = (given) => !isIt(given) && existsSync(given);
  fs.realpathSync.native = refused(native);
  syncBuiltinESMExports();
  try {
    return act();
  } finally {
    Object.assign(fs, Object.fromEntries(kept));
    fs.realpathSync.native = native;
    syncBuiltinESMExports();
  }
}

test("what the disk refuses is not taken for missing, whoever asks", () => {
  const path = at("box/refused");
  mkdirSync(join(path, ".git/objects"), { recursive: true });
  mkdirSync(join(path, ".git/refs"));
  writeFileSync(join(path, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(path, ".git/config"), ORIGIN);
  writeFileSync(at("home/.gitconfig"), "");
  const urls = ["https://github.com/acme/app.git"];
  assert.deepEqual(host.gitRemoteUrls(path, "origin"), urls);
  for (const [code, error] of [
    ["EACCES", "denied"],
    ["EPERM", "denied"],
    ["ELOOP", "loop"],
    ["EIO", "other"],
    ["ESTALE", "other"],
    ["EWHATEVER", "other"],
  ]) {
    refusing(path, code, () => {
      for (const asked of [path, join(path, "x")]) {
        assert.deepEqual(host.realpath(asked), { error }, `${code} ${asked}`);
        assert.equal(host.isDirectory(asked), undefined, `${code} ${asked}`);
        assert.throws(() => host.readLink(asked), Error, `${code} ${asked}`);
      }
      const engine = createEngine({
        policy: { rules: [] },
        annotations: { servers: { s: { tools: [{ toolName: "write", args: { path: "write-path" } }] } } },
        sandbox: at("box"),
        options: { sandboxServers: ["s"] },
        host,
      });
      const writing = { serverName: "s", toolName: "write", arguments: { path: join(path, "x") } };
      assert.equal(engine.evaluate(writing).rule, "structural-unresolvable-value", code);
    });
    // Of git's files, one that cannot be read is not one that is missing.
    for (const part of ["", ".git", ".git/HEAD", ".git/config", ".git/objects", ".git/refs"]) {
      refusing(join(path, part).replace(/\/$/, ""), code, () => {
        assert.throws(() => host.gitRemoteUrls(path, "origin"), Error, `${code} ${part}`);
      });
    }
    refusing(at("home/.gitconfig"), code, () => {
      assert.throws(() => host.gitRemoteUrls(path, "origin"), Error, code);
    });
    assert.deepEqual(host.gitRemoteUrls(path, "origin"), urls);
  }
  assert.deepEqual(refusing(path, "ENOTDIR", () => host.realpath(path)).error, "not-found");
});

test("links and directories are recognized", () => {
  assert.equal(host.readLink(at("box/dangling")), "../outside/new");
  assert.equal(host.readLink(at("box/chain")), "absolute");
  for (const path of ["box/file", "box/none", "box/none/below", "box/file/below"]) {
    assert.equal(host.readLink(at(path)), undefined, path);
  }
  for (const [path, expected] of [
    ["box", true],
    ["box/chain", true],
    ["box/file", false],
    ["box/none", false],
    ["box/loop", undefined],
  ]) {
    assert.equal(host.isDirectory(at(path)), expected, path);
  }
});

test("plain functions ask this machine", () => {
  assert.equal(resolveRealPath(at("box/dangling")), at("outside/new"));
  assert.equal(resolveRealPath(at("box/chain/new")), at("outside/new"));
  assert.equal(isWithinDirectory(at("box/chain"), at("box")), false);
  assert.equal(isWithinDirectory(at("box/none"), at("box")), true);
  assert.equal(resolveRealPath("x"), join(realpathSync(process.cwd()), "x"));
  const before = process.cwd();
  process.chdir(at("box"));
  try {
    assert.equal(resolveRealPath("relative/x"), at("box/deep/er/x"));
  } finally {
    process.chdir(before);
  }
  setDefaultHost(host);
  try {
    assert.equal(expandTilde("~/x"), at("home/x"));
    assert.equal(resolveRealPath("relative/x"), at("box/deep/er/x"));
  } finally {
    setDefaultHost(undefined);
  }
});

const ORIGIN = '[remote "origin"]\n\turl = https://github.com/acme/app.git\n';
const FORK = '[remote "fork"]\n\turl = git@forge.example:me/app.git\n';

/**
 * Repositories: what their configuration adds, the user's configuration, and the URLs of `origin` and of a push without
 * arguments.
 */
const REPOSITORIES = [
  ["one URL", ORIGIN, "", ["https://github.com/acme/app.git"]],
  ["none", "", "", []],
  [
    "another URL to push to",
    `${ORIGIN}\tpushurl = ssh://git@forge.example/acme/app.git\n`,
    "",
    ["https://github.com/acme/app.git", "ssh://git@forge.example/acme/app.git"],
  ],
  [
    "several URLs",
    `${ORIGIN}\turl = "https://mirror.example/app.git" # both\n`,
    "",
    ["https://github.com/acme/app.git", "https://mirror.example/app.git"],
  ],
  [
    "a rewritten URL",
    ORIGIN,
    '[url "https://evil.example/"]\n\tinsteadOf = https://github.com/\n',
    ["https://evil.example/acme/app.git"],
  ],
  [
    "a URL that is rewritten to push to",
    ORIGIN,
    '[url "git@evil.example:"]\n\tpushInsteadOf = https://github.com/\n',
    ["https://github.com/acme/app.git", "git@evil.example:acme/app.git"],
  ],
  [
    "the longest prefix wins",
    ORIGIN,
    '[url "a:"]\n\tinsteadOf = https://\n[url "b:"]\n\tinsteadOf = https://github.com/\n',
    ["b:acme/app.git"],
  ],
  ["an included file", "[include]\n\tpath = more\n", "", ["https://github.com/acme/app.git"], { ".git/more": ORIGIN }],
  [
    "a file that is included here only",
    '[includeIf "gitdir:REPO/"]\n\tpath = here\n[includeIf "gitdir:/elsewhere/"]\n\tpath = there\n',
    "",
    ["https://github.com/acme/app.git"],
    { ".git/here": ORIGIN, ".git/there": FORK },
  ],
];

test("git's remotes are those that git connects to, and no process is started to find them", (t) => {
  const hasGit = isThere(t, "git", spawnSync("git", ["--version"]).status === 0);
  const path = process.env.PATH;
  for (const [name, own, users, expected, files = {}] of hasGit ? REPOSITORIES : []) {
    const repository = at("repository");
    const placed = (text) => text.replaceAll("REPO", repository);
    const env = { PATH: path, HOME: at("home"), GIT_CONFIG_NOSYSTEM: "1" };
    const git = (...args) => {
      const { stdout } = spawnSync("git", args, { cwd: repository, env, encoding: "utf8" });
      return stdout.split("\n").filter((line) => line !== "");
    };
    rmSync(repository, { recursive: true, force: true });
    mkdirSync(join(repository, "sub"), { recursive: true });
    writeFileSync(at("home/.gitconfig"), placed(users));
    git("init", "--quiet", "--initial-branch=main");
    appendFileSync(join(repository, ".git/config"), placed(own));
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(repository, file), text);
    }
    const printed = ["--all", "--push"].flatMap((flag) => git("remote", "get-url", "--all", flag, "origin"));
    assert.deepEqual({ name, urls: [...new Set(printed)] }, { name, urls: expected });
    process.env.PATH = at("none");
    try {
      for (const directory of [repository, join(repository, "sub"), join(repository, "sub/new")]) {
        assert.deepEqual(host.gitRemoteUrls(directory, "origin"), expected, name);
        assert.deepEqual(host.gitDefaultRemoteUrls(directory), expected.length === 0 ? [] : expected, name);
      }
    } finally {
      process.env.PATH = path;
    }
  }
});

test("a push or fetch without a name goes where the branch says", (t) => {
  if (!isThere(t, "git", spawnSync("git", ["--version"]).status === 0)) {
    return;
  }
  const repository = at("tracking");
  spawnSync("git", ["init", "--quiet", "--initial-branch=main", repository], { env: { PATH: process.env.PATH } });
  writeFileSync(at("home/.gitconfig"), "");
  const config = join(repository, ".git/config");
  appendFileSync(config, `${ORIGIN}${FORK}[branch "main"]\n\tremote = fork\n`);
  const [good, fork] = ["https://github.com/acme/app.git", "git@forge.example:me/app.git"];
  assert.deepEqual(host.gitDefaultRemoteUrls(repository), [fork]);
  appendFileSync(config, "[remote]\n\tpushDefault = origin\n");
  assert.deepEqual(host.gitDefaultRemoteUrls(repository), [fork, good]);
  assert.deepEqual(host.gitUrl(repository, "https://x.example/y"), ["https://x.example/y"]);
  assert.deepEqual(host.gitPushRefs(repository, "origin", "main"), []);
  appendFileSync(config, '[branch "main"]\n\tmerge = refs/heads/trunk\n[push]\n\tdefault = upstream\n');
  assert.deepEqual(host.gitPushRefs(repository, "origin", "main"), ["refs/heads/trunk"]);
  assert.deepEqual(host.gitPushRefs(repository, "", ""), ["refs/heads/trunk"]);
  appendFileSync(config, '[remote "origin"]\n\tmirror\n');
  assert.equal(host.gitPushRefs(repository, "origin", ""), undefined);
  setDefaultHost(host);
  try {
    assert.equal(resolveGitRemote("fork", { path: repository }), fork);
    assert.equal(resolveGitRemote("https://x.example/y", { path: repository }), "https://x.example/y");
    assert.equal(resolveGitRemote("unknown", { path: repository }), "unknown");
    assert.equal(resolveDefaultGitRemote(repository), fork);
  } finally {
    setDefaultHost(undefined);
  }
  // Conditions on the branch are evaluated without git.
  writeFileSync(
    join(repository, ".git/more"),
    '[url "https://rewritten.example/"]\n\tinsteadOf = git@forge.example:\n',
  );
  appendFileSync(config, '[includeIf "onbranch:main"]\n\tpath = more\n');
  const path = process.env.PATH;
  process.env.PATH = at("none");
  try {
    assert.deepEqual(host.gitRemoteUrls(repository, "fork"), ["https://rewritten.example/me/app.git"]);
  } finally {
    process.env.PATH = path;
  }
});

test("what git would refuse, or start a program for, is an error", () => {
  const repository = at("refused");
  mkdirSync(join(repository, ".git/objects"), { recursive: true });
  mkdirSync(join(repository, ".git/refs"));
  writeFileSync(at("home/.gitconfig"), "");
  const ask = (config, head = "ref: refs/heads/main\n") => {
    writeFileSync(join(repository, ".git/HEAD"), head);
    writeFileSync(join(repository, ".git/config"), config);
    return host.gitDefaultRemoteUrls(repository);
  };
  const good = ["https://github.com/acme/app.git"];
  assert.deepEqual(ask(ORIGIN), good);
  for (const [config, message] of [
    [`${ORIGIN}[broken\n`, /config`, line 3: expected a section/],
    [`${ORIGIN}\tvcs = ext\n`, /`git-remote-ext`/],
    ['[remote "origin"]\n\turl = ext::sh -c id\n', /`git-remote-ext`/],
    [`${ORIGIN}[includeIf "moon:full"]\n\tpath = x\n`, /moon:full/],
    ['[remote "origin"]\n\turl\n', /`remote.origin.url`/],
  ]) {
    assert.throws(() => ask(config), { name: "HostError", message });
  }
  // White space, and how much of a head is read to recognize a repository, are as in git.
  const remotes = `${ORIGIN}${FORK}[branch "voil\u00e0"]\n\tremote = fork\n`;
  assert.deepEqual(ask(remotes, "ref: refs/heads/voil\u00e0\n"), ["git@forge.example:me/app.git"]);
  assert.deepEqual(ask(remotes, "ref:\x0crefs/heads/main\n"), []);
  assert.deepEqual(ask(remotes, `ref:${" ".repeat(300)}refs/heads/main\n`), []);
  assert.throws(() => ask(remotes, "ref: refs/heads/main\x0c\n"), { name: "HostError" });
  // A file belongs to the repository of its directory. A dangling link is not a directory.
  assert.deepEqual(ask(ORIGIN), good);
  assert.deepEqual(host.gitDefaultRemoteUrls(join(repository, ".git/config")), good);
  rmSync(join(repository, ".git/objects"), { recursive: true });
  symlinkSync("nowhere", join(repository, ".git/objects"));
  assert.deepEqual(host.gitDefaultRemoteUrls(repository), []);
});

test("an evaluation reads a configuration once, and the next one anew", (t) => {
  if (!isThere(t, "git", spawnSync("git", ["--version"]).status === 0)) return;
  const repository = at("outside/once");
  const git = (...args) => spawnSync("git", ["-C", repository, ...args], { env: { ...process.env, HOME: at("home") } });
  mkdirSync(repository);
  git("init");
  git("remote", "add", "one", "https://good.test/a");
  git("remote", "add", "two", "https://good.test/b");
  const engine = createEngine({
    policy: {
      rules: [
        {
          name: "good",
          if: { domains: { roles: ["git-remote-url"], allowed: ["good.test"] } },
          then: "allow",
          reason: "r",
        },
      ],
    },
    annotations: {
      servers: {
        s: { tools: [{ toolName: "push", args: { repo: ["none"], path: ["none"], remote: ["git-remote-url"] } }] },
      },
    },
    host,
  });
  const push = (remote) =>
    engine.evaluate({ serverName: "s", toolName: "push", arguments: { path: repository, remote } }).decision;
  assert.deepEqual([push("one"), push(["one", "two"])], ["allow", "allow"]);

  const reading = beginReading(host);
  assert.deepEqual(reading.gitRemoteUrls(repository, "one"), ["https://good.test/a"]);
  git("remote", "set-url", "two", "https://evil.test/b");
  assert.deepEqual(reading.gitRemoteUrls(repository, "two"), ["https://good.test/b"]);
  reading.end();
  assert.deepEqual(host.gitRemoteUrls(repository, "two"), ["https://evil.test/b"]);
  assert.deepEqual([push("one"), push("two"), push(["one", "two"])], ["allow", "deny", "deny"]);

  // A host of somebody's own, made from this one, is asked itself.
  assert.equal(beginReading({ ...host }), undefined);
});

test("where paths are not those of POSIX, URLs are judged and paths are denied", () => {
  const own = os.homedir;
  os.homedir = () => "C:\\Users\\ana";
  syncBuiltinESMExports();
  try {
    const engine = createEngine({
      policy: {
        rules: [
          {
            name: "docs",
            if: { domains: { roles: "fetch-url", allowed: ["example.com"] } },
            then: "allow",
            reason: "",
          },
          { name: "files", if: { roles: "read-path" }, then: "allow", reason: "" },
        ],
      },
      annotations: {
        servers: {
          fetch: { tools: [{ toolName: "fetch", args: { url: "fetch-url" } }] },
          filesystem: { tools: [{ toolName: "read", args: { path: "read-path" } }] },
        },
      },
      host: createNodeHost(),
    });
    const judged = (serverName, toolName, args) =>
      engine.gate({ serverName, toolName, arguments: args }).verdict.decision;
    assert.equal(judged("fetch", "fetch", { url: "https://example.com/a" }), "allow");
    assert.equal(judged("fetch", "fetch", { url: "https://other.example/a" }), "deny");
    for (const path of ["a", "/a", "~/a", "C:\\Users\\ana\\a"]) {
      assert.equal(judged("filesystem", "read", { path }), "deny", path);
    }
  } finally {
    os.homedir = own;
    syncBuiltinESMExports();
  }
});
