// Installs Debian's Chromium if it is missing and may be installed. Where it may not, tests that need it are skipped, or
// fail under `CI=true`.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { CHROMIUM, hasChromium, TARGET } from "./hosts.mjs";

const run = (...command) => {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command[0], command.slice(1), { stdio: "inherit", env }).status === 0;
};

if (!hasChromium() && process.getuid() === 0 && run("apt-get", "update")) {
  const installed = CHROMIUM.find((name) => run("apt-get", "install", "-y", "--no-install-recommends", name));
  if (installed !== undefined) {
    // `.ci/run` removes what was installed here, and nothing else.
    mkdirSync(TARGET, { recursive: true });
    writeFileSync(`${TARGET}/chromium-installed`, installed);
  }
}
console.log(hasChromium() ? "Chromium is installed" : "Chromium is missing");
process.exitCode = hasChromium() || process.env.CI !== "true" ? 0 : 1;
