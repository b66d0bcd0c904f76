// Installs programs of Debian's that tests start, if they are missing and may be installed: `node debian.mjs chromium qemu`. Where
// they may not, tests that need them are skipped, or fail under `CI=true`.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync } from "node:fs";
import { CHROMIUM, hasChromium, hasQemu, TARGET } from "./hosts.mjs";

const run = (...command) => {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command[0], command.slice(1), { stdio: "inherit", env }).status === 0;
};

/** Each with the packages of which one has it, and whether it is there. */
const PROGRAMS = {
  chromium: { packages: CHROMIUM, isThere: hasChromium },
  qemu: { packages: ["qemu-user-static"], isThere: hasQemu },
};

for (const name of process.argv.slice(2)) {
  const { packages, isThere } = PROGRAMS[name];
  if (!isThere() && process.getuid() === 0 && run("apt-get", "update")) {
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
