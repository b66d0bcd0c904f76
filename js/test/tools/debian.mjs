// Installs programs of Debian's that tests start, if they are missing and may be installed: `node debian.mjs chromium qemu registry`. Where
// they may not, tests that need them are skipped, or fail under `CI=true`.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { CHROMIUM, hasChromium, hasProgram, hasQemu, hasRegistry, TARGET } from "./hosts.mjs";

const runIn = (cwd, ...command) => {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command[0], command.slice(1), { stdio: "inherit", cwd, env }).status === 0;
};
const run = (...command) => runIn(".", ...command);

/** Each with the packages of which one has it, and whether it is there. One with a folder is only unpacked. */
const PROGRAMS = {
  chromium: { packages: CHROMIUM, isThere: hasChromium },
  registry: { packages: ["docker-registry"], isThere: hasRegistry, folder: "docker-registry" },
  ...Object.fromEntries(
    ["zsh", "gawk", "mawk", "original-awk", "busybox"].map((name) => [
      name,
      { packages: [name], isThere: () => hasProgram(name) },
    ]),
  ),
  qemu: { packages: ["qemu-user-static"], isThere: hasQemu },
};

for (const name of process.argv.slice(2)) {
  const { packages, isThere, folder } = PROGRAMS[name];
  if (!isThere() && folder !== undefined) {
    const place = `${TARGET}/${folder}`;
    mkdirSync(place, { recursive: true });
    if (process.getuid() === 0) run("apt-get", "update");
    runIn(place, "apt-get", "download", ...packages);
    for (const file of readdirSync(place).filter((file) => file.endsWith(".deb"))) {
      runIn(place, "dpkg-deb", "--extract", file, ".");
    }
  } else if (!isThere() && process.getuid() === 0 && run("apt-get", "update")) {
    const installed = packages.find((name) => run("apt-get", "install", "-y", "--no-install-recommends", name));
    if (installed !== undefined) {
      // `.ci/run` removes what was installed here, and nothing else.
      mkdirSync(TARGET, { recursive: true });
      appendFileSync(`${TARGET}/debian-installed`, `${installed}\n`);
    }
  }
  console.log(`${name} is ${isThere() ? "installed" : "missing"}`);
  if (!isThere() && process.env.CI === "true") process.exitCode = 1;
}
