// raw-http.mjs - HTTP as bytes: one write, everything that comes back, and how long it took.
import net from 'node:net';
import tls from 'node:tls';

/**
 * Sends `text` (a string or pieces with pauses: [text, ms, text, ...]) and gives {status, head, headers, body, ms, ended}. With
 * `daemon.tls`, options of tls.connect, over TLS.
 */
export function exchange(daemon, text, { ms = 8000, until = () => false } = {}) {
  return new Promise((resolve, reject) => {
    const start = Date.now();
    const to = { port: daemon.port, host: '127.0.0.1' };
    const socket = daemon.tls ? tls.connect({ ...to, ...daemon.tls }) : net.connect(to);
    let received = '';
    const finish = (ended) => {
      socket.destroy();
      const [head, ...rest] = received.split('\r\n\r\n');
      const headers = Object.fromEntries(head.split('\r\n').slice(1).map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
      resolve({ status: Number(head.match(/^HTTP\/1\.1 (\d{3})/)?.[1]), head, headers, body: rest.join('\r\n\r\n'), text: received, ms: Date.now() - start, ended });
    };
    socket.setEncoding('utf8').on('data', (data) => {
      received += data;
      if (until(received)) finish(false);
    });
    socket.on('close', () => finish(true));
    socket.on('error', (error) => (error.code === 'ECONNRESET' || error.code === 'EPIPE' ? finish(true) : reject(error)));
    setTimeout(() => finish(false), ms).unref();
    socket.on(daemon.tls ? 'secureConnect' : 'connect', async () => {
      for (const piece of [text].flat()) {
        if (typeof piece === 'number') await new Promise((done) => setTimeout(done, piece));
        else if (socket.writable) socket.write(piece);
      }
    });
  });
}

export const request = (daemon, method, target, { headers = {}, body, host } = {}) =>
  [
    `${method} ${target} HTTP/1.1`, `Host: ${host ?? `127.0.0.1:${daemon.port}`}`, 'Connection: close',
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', body ?? '',
  ].join('\r\n');
