// What the tests of callgate/mcp share: the engine of the cases, and both sides of a connection in the hands of a test.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gateClient, gateServer } from "../dist/mcp.js";
import { createEngine, createNodeHost } from "../dist/node.js";

const data = new URL("../../tests/guard/", import.meta.url);
export const read = (name) => readFileSync(new URL(name, data), "utf8");
export const later = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A directory with an engine for the cases, and options of a gate. */
export function place(t, more = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "callgate-mcp-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ["work", "docs"]) {
    mkdirSync(join(root, name));
  }
  const documents = JSON.parse(read("bundle.json").replaceAll("ROOT", root));
  const engine = createEngine({ ...documents, host: createNodeHost({ homeDir: root, currentDir: root }) });
  return { root, engine, options: { engine, serverName: "files", ...more } };
}

/** A transport whose two ends are in the hands of the test. */
export function bareTransport() {
  const sent = [];
  return {
    sent,
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send(message) {
      sent.push(message);
      return Promise.resolve();
    },
  };
}

/** An end of a connection that keeps what it receives. */
export function bareEnd() {
  const got = [];
  return {
    got,
    async connect(transport) {
      this.to = transport;
      transport.onmessage = (message) => got.push(message);
      await transport.start();
    },
  };
}

/** Each side, as the four places where messages pass. */
export const SIDES = {
  client: (options) => {
    const [end, transport] = [gateClient(bareEnd(), options), bareTransport()];
    return {
      ready: end.connect(transport),
      asks: (message) => end.to.send(message),
      answers: (message) => transport.onmessage(message),
      reached: transport.sent,
      got: end.got,
    };
  },
  server: (options) => {
    const [end, transport] = [gateServer(bareEnd(), options), bareTransport()];
    return {
      ready: end.connect(transport),
      asks: (message) => transport.onmessage(message),
      answers: (message) => end.to.send(message),
      reached: end.got,
      got: transport.sent,
    };
  },
};
