// A local HTTP server that notes what it is asked for. It is also a proxy, so that servers can be asked for any host
// without a name being looked up: the note shows the host that the client would have connected to.
import { createServer } from "node:http";

export async function startNetwork() {
  let asked = [];
  const server = createServer((request, response) => {
    // A proxy is asked for a whole URL, a server for a path.
    asked.push(request.url.startsWith("/") ? `http://${request.headers.host}${request.url}` : request.url);
    response.setHeader("content-type", "text/plain");
    response.end("hello");
  });
  server.on("connect", (request, socket) => {
    asked.push(`https://${request.url}`);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    /** The requests since the last time. */
    takeAsked() {
      const taken = asked;
      asked = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
