// A project as people have them: a repository with a space in its path, reached through a link, with secrets beside the code.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

const FILES = {
  "README.md": "# Acme platform\n\nSee docs/guide.md.\n",
  "package.json": '{ "name": "platform", "private": true }\n',
  ".gitignore": "node_modules\n.env\n",
  ".env": "TOKEN=secret\n",
  ".env.example": "TOKEN=\n",
  ".github/workflows/ci.yml": "on: push\n",
  "-notes.txt": "a name that begins with a dash\n",
  "Smith, John.md": "a name with a comma\n",
  "src/index.ts": 'import { greet } from "./greet";\n\n// TODO: another name\ngreet("world");\n',
  "src/greet.ts": 'export const greet = (name: string) => "hello " + name;\n',
  "src/app/(auth)/[id]/page.tsx": "export default () => null;\n",
  "src/routes/$slug.ts": "export {};\n",
  "packages/api/.env": "TOKEN=another\n",
  "packages/api/main.go": "package main\n",
  "packages/web/app.css": "body { margin: 0 }\n",
  "docs/guide.md": "# Guide\n\nFirst steps.\n",
  "docs/Guía/introducción.md": "Hola\n",
  "docs/画面.md": "x\n",
  "docs/old draft.md": "old\n",
  "notes/today.md": "- call Ann\n",
  "data/orders.csv": "id,total\n1,10\n2,20\n",
  "data/big.txt": "line\n".repeat(20_000),
  "bank/platform/brief.md": "# Brief\n",
  "out/.keep": "",
};

const LINKS = {
  "docs/latest.md": "guide.md",
  "out/to-env": "../.env",
  "out/to-home": "../../home",
  "src/docs": "../docs",
};

/** A picture of one pixel. */
const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type), data]);
  let crc = ~0;
  for (const byte of body) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(~crc >>> 0, 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
};
const PICTURE = Buffer.concat([
  Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
  chunk("IHDR", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])),
  chunk("IDAT", deflateSync(Buffer.from([0, 255, 0, 0]))),
  chunk("IEND", Buffer.alloc(0)),
]);

/** A folder for both ways of a measurement. */
export function makeRoot() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "callgate-workday-")));
  return { root, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Makes the project below a folder, with a home directory beside it. The same each time. */
export function plantProject(folder) {
  const repo = join(folder, "acme platform");
  const home = join(folder, "home");
  for (const [name, content] of Object.entries(FILES)) write(join(repo, name), content);
  write(join(repo, "docs/logo.png"), PICTURE);
  write(join(home, ".ssh/config"), "Host *\n");
  write(join(home, "elsewhere.txt"), "not of the project\n");
  write(join(home, "worktree/README.md"), "beside the project\n");
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(repo, name));
  symlinkSync("acme platform", join(folder, "work"));
  const env = { PATH: process.env.PATH, HOME: home, ...GIT };
  const git = (...args) => execFileSync("git", args, { cwd: repo, env, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Ann");
  git("config", "user.email", "ann@example.com");
  git("remote", "add", "origin", "https://github.com/acme/platform.git");
  git("add", "README.md", "src", "docs", ".gitignore");
  git("commit", "--quiet", "--message", "first");
  git("branch", "feature/x#1");
  git("checkout", "--quiet", "-b", "work");
  write(join(repo, "src/new.ts"), "export {};\n");
  write(join(repo, "README.md"), `${FILES["README.md"]}More.\n`);
  return { repo, home, through: join(folder, "work") };
}

/** The same commits each time. */
export const GIT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_DATE: "1767225600 +0000",
  GIT_COMMITTER_DATE: "1767225600 +0000",
};

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
