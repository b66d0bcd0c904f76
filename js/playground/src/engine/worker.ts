// The engine judges here, so that the page answers keys while it does.
import { init } from "callgate";
import { init as initTools } from "callgate/tools";
import type { Part, State } from "../state.js";
import { explain, judge, type Setup, setUp, tryOut } from "./judging.js";
import type { Answer, Change } from "./protocol.js";

const answer = (message: Answer): void => self.postMessage(message);
const loaded = Promise.all([init(), initTools()]);

let state: State = { files: {}, machine: "", call: "", scenarios: [] };
let setup: Setup | undefined;
/** What has to be done anew. */
const due = new Set<Part | "explanation">();
let isRunning = false;

self.onmessage = ({ data }: MessageEvent<Change>) => {
  state = { ...state, ...data };
  for (const part of Object.keys(data) as Part[]) {
    due.add(part);
  }
  void run();
};

/** Does what is due, the verdict first. Between two steps it looks whether something newer came. */
async function run(): Promise<void> {
  if (isRunning) {
    return;
  }
  isRunning = true;
  try {
    await loaded;
    while (due.size > 0) {
      step();
      await turn();
    }
  } catch (thrown) {
    answer({ kind: "failed", message: thrown instanceof Error ? thrown.message : String(thrown) });
  } finally {
    isRunning = false;
  }
}

function step(): void {
  if (due.delete("files") || due.delete("machine")) {
    due.delete("machine");
    setup?.engine?.dispose();
    setup = setUp(state);
    answer(setup.built);
    due.add("call").add("scenarios");
  } else if (setup === undefined) {
    due.clear();
  } else if (due.delete("call")) {
    answer({ kind: "judged", judged: judge(setup, state.call) });
    due.add("explanation");
  } else if (due.delete("explanation")) {
    answer({ kind: "explained", explained: explain(setup, state.call) });
  } else if (due.delete("scenarios")) {
    const built = setup;
    answer({ kind: "tried", results: state.scenarios.map((scenario) => tryOut(built, scenario)) });
  }
}

/** Lets messages in that came meanwhile. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
