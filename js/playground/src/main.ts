// The engine is most of what has to be loaded, so its worker starts before the page's own code is there.
const worker = new Worker(new URL("./engine/worker.ts", import.meta.url), { type: "module", name: "engine" });
void import("./page.js").then(({ start }) => start(worker));

export {};
