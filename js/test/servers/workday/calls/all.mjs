// The calls of a working day, by server.
import * as code from "./code.mjs";
import * as files from "./files.mjs";
import * as others from "./others.mjs";
import * as web from "./web.mjs";

const CALLS = {
  ...files,
  ...code,
  ...web,
  ...others,
  "chrome-devtools": web.chromeDevtools,
  "sequential-thinking": others.sequentialThinking,
  "desktop-commander": others.desktopCommander,
};

/** The calls of a server, in a project: each a tool, its arguments, the verdict that it must get, and how often people make it. */
export function callsOf(server, project) {
  const kinds = CALLS[server](project);
  return ["everyday", "rare", "controls"].flatMap((often) =>
    (kinds[often] ?? []).map(([tool, args, must = often === "controls" ? "deny" : "allow", note]) => ({
      server,
      tool,
      args,
      must,
      often,
      mayDiffer: note === "differs",
    })),
  );
}
