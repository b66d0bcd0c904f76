// callgate/mcp with both versions of MCP's SDK.
import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as client2 from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as InMemory1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as Server1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as server2 from "@modelcontextprotocol/server";
import { z } from "zod";
import { gateClient, gateServer } from "../dist/mcp.js";
import { place } from "./mcp.mjs";

/** A server with a tool of its own for each version of the SDK, and the client and the pair of transports that fit. */
const SDKS = {
  "version 1": {
    client: () => new Client1({ name: "c", version: "1" }),
    server: (handler) => {
      const server = new Server1({ name: "files", version: "1" });
      server.registerTool("read", { inputSchema: { path: z.string() } }, handler);
      server.registerTool("hidden", { inputSchema: { path: z.string() } }, handler);
      return server;
    },
    pair: () => InMemory1.createLinkedPair(),
  },
  "version 2": {
    client: () => new client2.Client({ name: "c", version: "1" }),
    server: (handler) => {
      const server = new server2.McpServer({ name: "files", version: "1" });
      server.registerTool("read", { inputSchema: z.object({ path: z.string() }) }, handler);
      server.registerTool("hidden", { inputSchema: z.object({ path: z.string() }) }, handler);
      return server;
    },
    pair: () => server2.InMemoryTransport.createLinkedPair(),
  },
};

for (const [version, sdk] of Object.entries(SDKS)) {
  for (const gated of ["client", "server"]) {
    test(`the SDK's ${version}, its ${gated} gated`, async (t) => {
      const { root, options } = place(t);
      symlinkSync("/etc", join(root, "work/out"));
      const seen = [];
      const handler = ({ path }) => {
        seen.push(path);
        return { content: [{ type: "text", text: "done" }] };
      };
      const [client, server] = [sdk.client(), sdk.server(handler)];
      assert.equal(
        gated === "client" ? gateClient(client, options) : gateServer(server, options),
        gated === "client" ? client : server,
      );
      const [one, other] = sdk.pair();
      await Promise.all([server.connect(other), client.connect(one)]);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ["read"],
      );
      const allowed = await client.callTool({ name: "read", arguments: { path: "./a" } });
      assert.deepEqual([allowed.isError ?? false, seen], [false, [`${root}/work/a`]]);
      for (const [name, path, rule] of [
        ["read", "out/passwd", "default-deny"],
        ["read", `${root}/docs/a`, "ask"],
        ["hidden", "a", "structural-unknown-tool"],
      ]) {
        const denied = await client.callTool({ name, arguments: { path } });
        assert.equal(denied.isError, true);
        assert.ok(denied.content[0].text.includes(`\`${rule}\``), denied.content[0].text);
      }
      assert.equal(seen.length, 1);
      await client.close();
    });
  }

  test(`the SDK's ${version}, gated while it is connected`, async (t) => {
    const { options } = place(t);
    const [client, server] = [sdk.client(), sdk.server(() => ({ content: [] }))];
    const [one, other] = sdk.pair();
    await Promise.all([server.connect(other), client.connect(one)]);
    gateClient(client, options);
    assert.equal((await client.callTool({ name: "read", arguments: { path: "/etc/passwd" } })).isError, true);
    assert.ok(!(await client.callTool({ name: "read", arguments: { path: "a" } })).isError);
    await client.close();
  });
}
