// A site of the tests, which is a proxy too: it answers every request alike, and a form to a browser.
import { createServer } from "node:http";

const FORM = `<!doctype html><title>Form</title><body>
<h1 class=".env">Docs at /docs</h1><p class="env">x</p><input id="notes" aria-label="Notes">
<select id="size"><option>small<option>big</select><button id="send">Send</button><div id="drop">Zone</div>`;

const JSON_OF = (method, path) => ({
  id: 1,
  iid: 1,
  name: "feature/a",
  method,
  path,
});

export async function startSite() {
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    request.resume();
    if (pathname.startsWith("/api/v4")) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(JSON_OF(request.method, pathname + search)));
      return;
    }
    const isForm = pathname === "/form";
    response.setHeader("content-type", isForm ? "text/html" : "text/plain");
    response.end(isForm ? FORM : `${request.method} ${request.url}`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
