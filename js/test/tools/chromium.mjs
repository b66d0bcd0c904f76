// In continuous integration, installs Debian's Chromium if it is missing. Elsewhere nothing is installed, and tests that
// need it are skipped.
import { spawnSync } from "node:child_process";
import { hasChromium } from "./hosts.mjs";

const isContinuousIntegration = process.env.CI === "true";
if (!hasChromium() && isContinuousIntegration && process.getuid() === 0) {
  const options = { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  spawnSync("apt-get", ["update"], options);
  spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], options);
}
console.log(hasChromium() ? "Chromium is installed" : "Chromium is missing");
process.exitCode = hasChromium() || !isContinuousIntegration ? 0 : 1;
