// ports.mjs - ports for programs beside the daemon.
import net from 'node:net';

/** Below those that the kernel gives to whoever asks for any, such as a daemon that is started meanwhile. */
const [FIRST, COUNT] = [20000, 10000];

/** A port of 127.0.0.1 that is free at this moment, and that nobody gets by chance. */
export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer();
    const attempt = () => server.listen(FIRST + Math.floor(Math.random() * COUNT), '127.0.0.1');
    server.on('error', attempt).on('listening', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
    attempt();
  });
}
