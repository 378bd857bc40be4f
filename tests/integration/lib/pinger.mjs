// pinger.mjs - a window that only sends pings, from a thread of its own, and measures how long each pong takes.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import WebSocket from 'ws';

const PAUSE_MS = 2;

export class Pinger {
  /** Connects; the first ping is under way. */
  static async start(daemon) {
    const pinger = new Pinger();
    pinger.worker = new Worker(new URL(import.meta.url), { workerData: { url: `ws://127.0.0.1:${daemon.port}/ws` } });
    await pinger.#next();
    return pinger;
  }

  #next() {
    return new Promise((resolve, reject) => {
      this.worker.once('message', resolve);
      this.worker.once('error', reject);
    });
  }

  /** Milliseconds until each pong, ascending. */
  stop() {
    const times = this.#next();
    this.worker.postMessage('stop');
    return times;
  }
}

if (!isMainThread && workerData?.url) {
  const socket = new WebSocket(workerData.url, { perMessageDeflate: false });
  const times = [];
  let sent;
  const ping = () => {
    sent = performance.now();
    socket.ping();
  };
  socket.once('open', () => {
    parentPort.postMessage('open');
    ping();
  });
  socket.on('pong', () => {
    times.push(performance.now() - sent);
    setTimeout(ping, PAUSE_MS);
  });
  parentPort.once('message', () => {
    parentPort.postMessage(times.sort((a, b) => a - b));
    socket.terminate();
  });
}
