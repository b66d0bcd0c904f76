// The entries of browsers and workers.
import { createEngine, createVirtualHost, init } from "callgate";
import { init as initSlim, initSync } from "callgate/slim";
import { extractDomain, init as initTools } from "callgate/tools";

export async function start(): Promise<string> {
  await init();
  await init("callgate.wasm");
  await init(new URL("https://a.example/callgate.wasm"));
  await init(fetch("callgate.wasm"));
  await init(new WebAssembly.Module(new Uint8Array()));
  await initSlim(new Uint8Array());
  initSync(new Uint8Array());
  await initTools();
  await initTools(fetch("tools.wasm"));
  // @ts-expect-error: a page has no host of its own
  const { createNodeHost } = await import("callgate");
  // @ts-expect-error: the slim entry fetches nothing
  await initSlim(fetch("callgate.wasm"), "callgate.wasm");
  using engine = createEngine({ policy: "{}", annotations: "{}", host: createVirtualHost({ home: "/", cwd: "/" }) });
  const domain: string = extractDomain("https://a.example/");
  return engine.evaluate({ serverName: "s", toolName: "t" }).decision + typeof createNodeHost + domain;
}
