// All calls are looked at here, so that verdicts and keys do not wait for it. Whoever wants no answer any more ends the worker.
import { init } from "callgate";
import { diff, init as initTools, lint, regions } from "callgate/tools";
import { configOf, faultsOf, hostOf } from "../engine/config.js";
import type { Question, Told } from "./protocol.js";

/** All of them look at the disk that the page describes, so that map, lint and diff agree. */
const LOOK = { disk: true };

const tell = (message: Told): void => self.postMessage(message);
const loaded = Promise.all([init(), initTools()]);

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  try {
    await loaded;
    tell(answer(data));
  } catch (thrown) {
    const [first] = faultsOf(thrown);
    tell({ kind: "failed", message: first?.message ?? String(thrown) });
  }
};

function answer({ asked, files, machine }: Question): Told {
  const host = hostOf(machine);
  const config = { ...configOf(files, host.currentDir), host };
  switch (asked.kind) {
    case "regions": {
      const { tools, to } = asked;
      regions(config, { ...LOOK, tools, to, each: (tool) => tell({ kind: "tool", tool }) });
      return { kind: "mapped" };
    }
    case "lint":
      return { kind: "findings", findings: lint(config, LOOK) };
    case "diff": {
      const before = { ...configOf(asked.before, host.currentDir), host };
      return { kind: "diff", diff: diff(before, config, LOOK) };
    }
  }
}
