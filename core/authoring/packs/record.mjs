// Records the tools of a server for its pack: node record.mjs NAME COMMAND [ARGUMENT…] writes NAME/tools.json.
// CALLGATE is the command, by default the one in the PATH.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const [name, ...command] = process.argv.slice(2);
const drafted = execFileSync(process.env.CALLGATE ?? "callgate", ["annotate", "--server", name, "--", ...command], {
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const lines = JSON.parse(drafted).servers[name].tools.map(({ toolName, inputSchema = { type: "object" } }) =>
  JSON.stringify({ name: toolName, inputSchema }),
);
writeFileSync(new URL(`${name}/tools.json`, import.meta.url), `[\n${lines.join(",\n")}\n]\n`);
