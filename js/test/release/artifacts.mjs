// The artifacts of `cargo release`, each installed in an empty folder from its packed files alone.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, TARGET } from "../tools/hosts.mjs";

export const FOLDER = join(TARGET, "release-artifacts");

/** The processors, by Node's names, with the others' names for them. */
export const PROCESSORS = {
  x64: { arch: "x86_64", debian: "amd64" },
  arm64: { arch: "aarch64", debian: "arm64" },
};

/** The version that the artifacts have. */
export const { version: VERSION } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** Why there is nothing to install, or nothing if there is. */
export const whyMissing = () =>
  existsSync(join(FOLDER, "SHA256SUMS")) ? undefined : `${FOLDER} is missing; run cargo release`;

/** The path of an artifact. */
export const artifact = (name) => join(FOLDER, name);

/** The names of all artifacts, with the digest that is written for each and the one that it has. */
export function sums() {
  const written = readFileSync(artifact("SHA256SUMS"), "utf8").trim().split("\n");
  const digest = (name) =>
    createHash("sha256")
      .update(readFileSync(artifact(name)))
      .digest("hex");
  return {
    written: new Map(written.map((line) => line.split("  ").reverse())),
    found: new Map(
      readdirSync(FOLDER)
        .filter((name) => name !== "SHA256SUMS")
        .map((name) => [name, digest(name)]),
    ),
  };
}

const NO_NETWORK = {
  npm_config_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  PIP_NO_INDEX: "1",
};

/** Runs an installer without a network, in a folder. */
const install = (folder, command, ...args) =>
  run(command, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...NO_NETWORK } });

const tarball = ({ arch }) => artifact(`callgate-v${VERSION}-${arch}-unknown-linux-musl.tgz`);

/** The program of a processor, out of the tarball. */
export function unpacked(folder, processor) {
  run("tar", ["-xzf", tarball(processor), "-C", folder, "--strip-components=1"]);
  return join(folder, "callgate");
}

/** Each way to install: given an empty folder and Node's name for the processor, it returns ways to start the command. */
export const WAYS = {
  "the tarball": (folder, node) => ({ callgate: [unpacked(folder, PROCESSORS[node])] }),
  "Debian's package": (folder, node) => {
    run("dpkg-deb", ["--extract", artifact(`callgate_${VERSION}_${PROCESSORS[node].debian}.deb`), folder]);
    return { callgate: [join(folder, "usr/bin/callgate")] };
  },
  "npm's packages": (folder, node) => {
    writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }');
    const packages = [`callgate-${VERSION}.tgz`, `callgate-cli-linux-${node}-${VERSION}.tgz`].map(artifact);
    install(folder, "npm", "install", ...packages);
    const modules = join(folder, "node_modules");
    return {
      "npm's script": [join(modules, ".bin/callgate")],
      "npx callgate": ["npx", "--offline", "--prefix", folder, "callgate"],
      callgate: [join(modules, `@callgate/cli-linux-${node}/callgate`)],
    };
  },
  "the wheel": (folder, node) => {
    const wheel = readdirSync(FOLDER).find(
      (name) => name.startsWith("callgate_cli-") && name.endsWith(`_${PROCESSORS[node].arch}.whl`),
    );
    install(folder, "python3", "-m", "venv", "venv");
    const bin = join(folder, "venv/bin");
    install(folder, join(bin, "pip"), "install", "--no-index", "--quiet", artifact(wheel));
    return {
      "callgate-cli": [join(bin, "callgate-cli")],
      "python -m callgate_cli": [join(bin, "python"), "-m", "callgate_cli"],
      callgate: [join(bin, "callgate")],
    };
  },
};

/** Unpacks the image for a processor: its configuration, and its files in the folder. */
export function unpackImage(folder, { debian }) {
  const layout = join(folder, "layout");
  const root = join(folder, "root");
  mkdirSync(layout);
  mkdirSync(root);
  run("tar", ["-xf", artifact(`callgate-${VERSION}-oci.tar`), "-C", layout]);
  const blob = ({ digest, size }) => {
    const bytes = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
    const found = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (found !== digest || bytes.length !== size) throw new Error(`${digest} is ${found}`);
    return bytes;
  };
  const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8"));
  const [all] = manifests;
  const found = JSON.parse(blob(all)).manifests.find(({ platform }) => platform.architecture === debian);
  const manifest = JSON.parse(blob(found));
  let size = found.size + manifest.config.size;
  for (const layer of manifest.layers) {
    blob(layer);
    size += layer.size;
    run("tar", ["-xzf", join(layout, "blobs", layer.digest.replace(":", "/")), "-C", root]);
  }
  chmodSync(root, 0o755);
  return { root, size, ...JSON.parse(blob(manifest.config)) };
}
