// ports.mjs - ports for programs beside the daemon.
import net from 'node:net';

/** A port of 127.0.0.1 that is free at this moment. */
export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
