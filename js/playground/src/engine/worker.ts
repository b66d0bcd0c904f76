// The engine judges here, so that the page answers keys while it does.
import { init } from "callgate";
import { Due } from "./due.js";
import { edited } from "./edit.js";
import { describe, explain, judge, type Setup, setUp, tryOut } from "./judging.js";
import type { Answer, Change, Known } from "./protocol.js";
import { Trial } from "./trial.js";

const answer = (message: Answer): void => self.postMessage(message);
const loaded = init();

let state: Known = { files: {}, machine: "", call: "" };
let setup: Setup | undefined;
const trial = new Trial();
const due = new Due();
let isRunning = false;
/** Engines of earlier documents. To free a large one takes milliseconds, for which no verdict waits. */
const replaced: Setup["engine"][] = [];

self.onmessage = ({ data }: MessageEvent<Change>) => {
  const { edits = {}, scenarios, added = new Map(), ...parts } = data;
  const files = Object.entries(edits).map(([name, edit]) => [name, edited(state.files[name] ?? "", edit)]);
  state = { ...state, files: { ...state.files, ...Object.fromEntries(files) }, ...parts };
  if (scenarios !== undefined) {
    trial.replace(scenarios, added);
  }
  due.changed(data);
  void run();
};

/** Does what is due. Between two steps it looks whether something newer came. */
async function run(): Promise<void> {
  if (isRunning) {
    return;
  }
  isRunning = true;
  try {
    await loaded;
    for (let step = due.first; step !== undefined; step = due.first) {
      if (step === "documents" || setup === undefined) {
        replaced.push(setup?.engine);
        setup = setUp(state);
        trial.forget();
        due.done("documents");
        continue;
      }
      if (step === "scenarios") {
        tryNext(setup);
      } else {
        due.done(step);
        answer(answerOf(step, setup));
        for (const engine of replaced.splice(0)) {
          engine?.dispose();
        }
      }
      await turn();
    }
  } catch (thrown) {
    answer({ kind: "failed", message: thrown instanceof Error ? thrown.message : String(thrown) });
  } finally {
    isRunning = false;
  }
}

function answerOf(step: "verdict" | "faults" | "explanation", built: Setup): Answer {
  switch (step) {
    case "verdict":
      return { kind: "judged", judged: judge(built, state.call) };
    case "faults":
      return describe(built);
    case "explanation":
      return { kind: "explained", explained: explain(built, state.call) };
  }
}

/** How long scenarios are judged before the worker looks whether something newer came, in milliseconds. */
const SLICE = 8;
/** How often it says how far it is. */
const PATIENCE = 250;

let told = 0;

/** Judges some more scenarios, and answers when all of them are judged. */
function tryNext(built: Setup): void {
  const begin = performance.now();
  const isDone = trial.advance(
    (scenario) => tryOut(built, scenario),
    () => performance.now() - begin > SLICE,
  );
  if (isDone) {
    due.done("scenarios");
    answer({ kind: "tried", results: trial.results });
    told = 0;
  } else if (told === 0) {
    told = begin;
  } else if (begin - told > PATIENCE) {
    told = begin;
    answer({ kind: "trying", ...trial.progress });
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
