// A server that keeps what it gets, and the messages that clients send it.
import assert from "node:assert/strict";
import { createServer } from "node:http";

export const TOOLS = ["echo", "get-sum", "get-env", "trigger-long-running-operation"].map((name) => ({ name }));

/** A server that keeps what it gets. It answers with JSON, and a list of tools with a stream of events, and has trailers if asked to. */
export async function startRecorder({ trailers = false } = {}) {
  const got = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    got.push(body);
    const { id, method } = body === "" ? {} : JSON.parse(body);
    if (trailers) response.setHeader("trailer", "x-end").addTrailers({ "x-end": "1" });
    const answer = (result) => JSON.stringify({ jsonrpc: "2.0", id, result });
    if (method === "tools/list" || request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        ': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n',
      );
      const listed = JSON.stringify({ jsonrpc: "2.0", id: id ?? 9, result: { tools: TOOLS } });
      response.end(`id: 2\nevent: message\ndata: ${listed}\n\n`);
    } else {
      response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json" });
      response.end(id === undefined ? "" : answer({ content: [{ type: "text", text: body }] }));
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const take = () => got.splice(0);
  return { port: server.address().port, take, close: () => new Promise((closed) => server.close(closed)) };
}

/** A call of a tool. */
export const call = (name, args, id = 7) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

export const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Sends a message, or bytes. */
export async function post(url, message, headers = {}) {
  const body = typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message);
  const response = await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

/** The message of an answer. */
export const answerOf = ({ status, text }) => {
  assert.equal(status, 200, text || "no body");
  return JSON.parse(text);
};
