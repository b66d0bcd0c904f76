// Signed bundles in a real registry of OCI, Debian's: put there, judged by, and refused.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { hasRegistry, isThere, NATIVE, REGISTRY } from "../tools/hosts.mjs";
import { start } from "./guard.mjs";

const EXAMPLE = fileURLToPath(new URL("../../../host-shim/examples/bundle/", import.meta.url));

/** `user:word`, as `htpasswd -B` writes it. */
const PASSWORDS = "user:$2b$04$P7lDYHW9ab7V2tgSvKRft.tH6oEMHn9YL4cRKGZeb/XO7fX9qGQNy\n";

const folder = mkdtempSync(join(tmpdir(), "callgate-registry-"));
const running = [];
after(async () => {
  for (const { close } of running) await close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a registry in a folder of its own, and returns its host. */
async function registry(name, more = []) {
  const root = join(folder, name);
  const configuration = join(folder, `${name}.yml`);
  const lines = [
    "version: 0.1",
    "storage:",
    "  filesystem:",
    `    rootdirectory: ${root}`,
    "http:",
    "  addr: 127.0.0.1:0",
  ];
  writeFileSync(configuration, [...lines, ...more, ""].join("\n"));
  const options = { env: { PATH: process.env.PATH } };
  const started = await start(REGISTRY, ["serve", configuration], options, /listening on (127\.0\.0\.1:\d+)/);
  running.push(started);
  return started.found[1];
}

/** Runs the command in a project, and checks its exit code. */
function callgate(project, args, code = 0, env = {}) {
  const { status, stdout, stderr } = spawnSync(NATIVE, args, {
    cwd: project,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: join(project, "cache"), ...env },
    timeout: 120_000,
  });
  assert.equal(status, code, `${args.join(" ")}: ${stdout}${stderr}`);
  return stdout + stderr;
}

/** A project with a bundle that is signed as a revision of `acme`. */
function project(name) {
  const place = join(folder, name);
  mkdirSync(place);
  for (const file of ["callgate.json", "policy.json", "annotations.json"])
    copyFileSync(EXAMPLE + file, join(place, file));
  callgate(place, ["bundle", "keygen", "acme"]);
  return place;
}

function sign(place, revision) {
  const flags = ["--name", "acme", "--revision", String(revision), "--expires", "1d", "--out", "acme.json"];
  callgate(place, ["bundle", "build", ...flags]);
  callgate(place, ["bundle", "sign", "acme.json", "--key", "acme.key"]);
}

const CALL = JSON.stringify({
  serverName: "filesystem",
  toolName: "read_text_file",
  arguments: { path: "~/Documents/a" },
});

test("a bundle is pushed, judged by, and followed by the next revision", { timeout: 120_000 }, async (t) => {
  if (!isThere(t, REGISTRY, hasRegistry())) return;
  const host = await registry("open");
  const place = project("project");
  sign(place, 1);
  const address = `oci://${host}/acme/policies:stable`;
  const { digest } = JSON.parse(callgate(place, ["bundle", "push", "acme.json", address]));
  // Another client finds an artifact of OCI there.
  const answer = await fetch(`http://${host}/v2/acme/policies/manifests/${digest}`, {
    headers: { accept: "application/vnd.oci.image.manifest.v1+json" },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("docker-content-digest"), digest);
  const { artifactType, layers } = await answer.json();
  assert.equal(artifactType, "application/vnd.callgate.bundle.v1+json");
  assert.equal(layers.length, 1);
  for (const named of [address, `oci://${host}/acme/policies@${digest}`]) {
    callgate(place, ["bundle", "pull", named, "--out", "pulled.json", "--bundle-key", "acme.pub"]);
    assert.equal(readFileSync(join(place, "pulled.json"), "utf8"), readFileSync(join(place, "acme.json"), "utf8"));
  }
  const judge = ["eval", CALL, "--bundle", address, "--bundle-key", "acme.pub", "--bundle-refresh", "1"];
  callgate(place, judge);
  // The same tag has the next revision, and then one before.
  copyFileSync(join(place, "acme.json"), join(place, "first.json"));
  writeFileSync(join(place, "policy.json"), '{"rules": []}');
  sign(place, 2);
  callgate(place, ["bundle", "push", "acme.json", address]);
  await new Promise((later) => setTimeout(later, 2100));
  callgate(place, judge, 2);
  callgate(place, ["bundle", "push", "first.json", address]);
  await new Promise((later) => setTimeout(later, 2100));
  const said = callgate(place, judge, 2);
  assert.match(said, /the last good bundle is used, until it expires: revision 1 of the bundle `acme` is lower than 2/);
  await running.pop().close();
  await new Promise((later) => setTimeout(later, 2100));
  assert.match(callgate(place, judge, 2), /the last good bundle is used, until it expires: it cannot be fetched/);
});

test("a registry that wants a password gets it, and no other", { timeout: 120_000 }, async (t) => {
  if (!isThere(t, REGISTRY, hasRegistry())) return;
  const passwords = join(folder, "passwords");
  writeFileSync(passwords, PASSWORDS);
  const host = await registry("closed", ["auth:", "  htpasswd:", "    realm: test", `    path: ${passwords}`]);
  const place = project("member");
  sign(place, 1);
  const push = ["bundle", "push", "acme.json", `oci://${host}/policies:1`];
  const secret = (text) => ({ CALLGATE_BUNDLE_CREDENTIALS: text });
  for (const wrong of ["", `${host}=user:other`, `${host}=token`, "127.0.0.1=user:word"]) {
    const said = callgate(place, push, 1, secret(wrong));
    assert.match(said, /answered HTTP 401 Unauthorized to `\w+ \/v2\/policies\/.*it wants other credentials/);
    assert.doesNotMatch(said, /user:|token/);
  }
  callgate(place, push, 0, secret(`${host}=user:word`));
  const judge = ["eval", CALL, "--bundle", `oci://${host}/policies:1`, "--bundle-key", "acme.pub"];
  callgate(place, judge, 4);
  callgate(place, judge, 0, secret(`${host}=user:word`));
});
