// Ports that are free.
import { createServer } from "node:net";

/** A port of the loopback interface that nobody listens on. Somebody may be faster than who asks. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
