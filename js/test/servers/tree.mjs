// A tree of files on the disk that every server of these tests works in, with what changes in it.
import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The content of a file: a text that no other file holds, so that an answer shows which files were read. */
export const contentOf = (name) => `<<${name}>>\n`;

/** The files whose content is in a text. */
export const filesIn = (text) => [...new Set([...text.matchAll(/<<([^<>]+)>>/g)].map(([, name]) => name))].sort();

const FILES = [
  "sandbox/a.txt",
  "sandbox/b.txt",
  "sandbox/with space.txt",
  "sandbox/ü.txt",
  "sandbox/[draft] notes.txt",
  "sandbox/sub/c.txt",
  "sandbox/sub/deep/d.txt",
  "sandbox/keys/id",
  "sandbox/token.txt",
  "sandbox/kéy.txt",
  "repos/app/key.txt",
  "sandbox-old/z.txt",
  "bench/w.txt",
  "bench/sub/v.txt",
  "docs/d.txt",
  "docs/e.txt",
  "drafts/f.txt",
  "outside/x.txt",
  "outside/y.txt",
  "secret/key.txt",
  "home/h.txt",
  "home/.ssh/id",
  // The servers' working directory and the gate's have files of the same names as the sandbox.
  "server/a.txt",
  "server/sub/c.txt",
  "gate/a.txt",
];

const LINKS = {
  "sandbox/down": "sub",
  "sandbox/out": "../outside",
  "sandbox/öut": "../outside",
  "sandbox/out.txt": "../outside/x.txt",
  "sandbox/new-out.txt": "../outside/new.txt",
  "sandbox/new-in.txt": "sub/new.txt",
  "sandbox/loop": "loop",
  "sandbox/key.txt": "../secret/key.txt",
  "sandbox/old-keys": "keys",
  "docs/out.txt": "../outside/x.txt",
  "docs/in.txt": "d.txt",
  "bench/to-docs": "../docs",
  "bench/out": "../outside",
  entrance: "sandbox",
  "repos/link": "../far/repo",
};

/** Each has a commit on `main`, a branch `topic`, a staged change and a file that git does not know. */
const REPOSITORIES = ["repos/app", "repos/other", "far/repo", "sandbox/repo", "secret/repo", "server"];

/** Makes the tree in a new folder. */
export function plantTree() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "callgate-servers-")));
  const at = (name) => (name === "" ? root : join(root, name));
  for (const name of FILES) write(at(name), contentOf(name));
  for (const name of REPOSITORIES) plantRepository(at(name), name);
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, at(name));
  const before = snapshot(root);
  return {
    root,
    at,
    /** The names of what was added, changed or removed since the tree was made; the tree is then as it was. */
    takeChanges: () => takeChanges(root, before),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function plantRepository(path, name) {
  const env = {
    PATH: process.env.PATH,
    HOME: path,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
    GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
  };
  mkdirSync(path, { recursive: true });
  const git = (...args) => execFileSync("git", args, { cwd: path, env, stdio: "pipe" });
  git("init", "--quiet", "--template=", "--initial-branch=main");
  git("config", "user.name", "Somebody");
  git("config", "user.email", "somebody@example.com");
  write(join(path, "r.txt"), contentOf(`${name}/r.txt`));
  git("add", "r.txt");
  git("commit", "--quiet", "--message", `first of ${name}`);
  git("branch", "topic");
  write(join(path, "staged.txt"), contentOf(`${name}/staged.txt`));
  git("add", "staged.txt");
  write(join(path, "new.txt"), contentOf(`${name}/new.txt`));
  write(join(path, "lib/new.txt"), contentOf(`${name}/lib/new.txt`));
}

/** Every entry of the tree by its name: what a file holds, where a link leads, or that it is a directory. */
function snapshot(root) {
  const entries = new Map();
  const visit = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const path = join(root, name);
      if (entry.isSymbolicLink()) {
        entries.set(name, { link: readlinkSync(path) });
      } else if (entry.isDirectory()) {
        entries.set(name, { directory: true });
        visit(name);
      } else {
        entries.set(name, { content: readFileSync(path), mode: lstatSync(path).mode });
      }
    }
  };
  visit("");
  return entries;
}

const isSame = (one, other) =>
  one.link === other.link &&
  one.directory === other.directory &&
  one.mode === other.mode &&
  (one.content === undefined || (other.content !== undefined && one.content.equals(other.content)));

function takeChanges(root, before) {
  const after = snapshot(root);
  const changed = [];
  for (const name of after.keys()) {
    const old = before.get(name);
    if (old === undefined || !isSame(old, after.get(name))) {
      changed.push(name);
      rmSync(join(root, name), { recursive: true, force: true });
    }
  }
  for (const [name, entry] of before) {
    const is = after.get(name);
    if (is === undefined) changed.push(name);
    if (is !== undefined && isSame(entry, is)) continue;
    const path = join(root, name);
    if (entry.directory) mkdirSync(path, { recursive: true });
    else if (entry.link !== undefined) symlinkSync(entry.link, path);
    else writeFileSync(path, entry.content, { mode: entry.mode });
  }
  return changed.sort();
}
