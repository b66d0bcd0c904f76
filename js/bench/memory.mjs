// Memory use over very many calls: `npm run bench:memory -- --corpus DIR [--calls N]`.
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createEngine, createVirtualHost } from "callgate";
import { currentMemory } from "../wasm/callgate.js";
import { HOME, readCorpus, SANDBOX } from "./corpus.mjs";

const { values: options } = parseArgs({
  options: { corpus: { type: "string" }, calls: { type: "string", default: "10000000" } },
});
if (options.corpus === undefined) {
  process.stderr.write("usage: npm run bench:memory -- --corpus DIR [--calls N]\n");
  process.exit(64);
}
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const { documents, groups } = readCorpus(options.corpus);
const engine = createEngine({
  ...documents,
  sandbox: SANDBOX,
  protectedPaths: ["/etc/shadow", `${HOME}/.ssh`],
  domainAllowlists: { fetch: ["*"] },
  host: createVirtualHost({ home: HOME, cwd: "/", fs: { dirs: ["/etc", HOME] } }),
});
const requests = [...groups.values()].flat().map(({ request }) => request);

/** The memory in use: the module's, which never shrinks, and JavaScript's heap after a collection. */
function used() {
  collect();
  return { module: currentMemory().buffer.byteLength, heap: process.memoryUsage().heapUsed };
}

function show(calls, { module, heap }) {
  const kib = (bytes) =>
    Math.round(bytes / 1024)
      .toLocaleString("en")
      .padStart(8);
  process.stdout.write(
    `${calls.toLocaleString("en").padStart(12)} calls  module ${kib(module)} KiB  heap ${kib(heap)} KiB\n`,
  );
}

const most = Number(options.calls);
let done = 0;
let next = 1_000;
while (done < most) {
  for (const request of requests) {
    engine.evaluate(request);
    engine.gate(request);
    // A tool and a name of an argument that did not occur before.
    engine.evaluate({ ...request, toolName: `${request.toolName}-${done}` });
    engine.evaluate({ ...request, arguments: { ...request.arguments, [`argument-${done}`]: "" } });
    done += 4;
  }
  if (done >= next) {
    show(done, used());
    next *= 10;
  }
}
show(done, used());
