// editor.mjs - an editor window: a WebSocket client that keeps every message and comes back by itself, as the Electron
// client does, when the gateway is replaced.
import WebSocket from 'ws';
import { PATIENCE_MS, brief, sleep } from './wait.mjs';

const RECONNECT_MS = 30;

export class Editor {
  /** Connects and says hello; gives the editor once connection:init is there. */
  static async connect(daemon) {
    const editor = new Editor(daemon);
    await editor.#dial();
    return editor;
  }

  constructor(daemon) {
    this.url = `ws://127.0.0.1:${daemon.port}/ws`;
    this.messages = []; // every message of every connection, in order
    this.taken = new Set();
    this.waiting = new Set(); // functions to be called on each message
    this.connections = 0;
    this.done = false;
  }

  async #dial() {
    const socket = new WebSocket(this.url, { perMessageDeflate: false, maxPayload: 256 * 1024 * 1024 });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    this.socket = socket;
    socket.on('error', () => {}); // what follows is 'close'
    socket.on('close', () => this.#lost(socket));
    socket.on('message', (data) => this.#received(JSON.parse(data.toString('utf8'))));
    const resume = this.init && { epoch: this.init.epoch, seq: this.lastSeq, connectionId: this.init.connectionId };
    const hello = { version: '1.0.0', platform: 'linux', wantsProgress: true, windowSize: { width: 1280, height: 800 }, ...(resume && { resume }) };
    const answer = await this.ask('connection:hello', hello, 'connection:init');
    if (answer === null) throw new Error('the connection was lost before connection:init');
    this.init = answer.payload;
    this.greeted = socket;
    this.connections += 1;
  }

  #received(message) {
    this.lastSeq = message.seq;
    this.messages.push(message);
    for (const look of [...this.waiting]) look();
  }

  async #lost(socket) {
    if (socket !== this.socket) return;
    this.socket = null;
    if (this.dialing) return; // the loop below goes on by itself
    this.dialing = true;
    while (!this.done && this.socket === null) {
      await sleep(RECONNECT_MS);
      await this.#dial().catch(() => {});
    }
    this.dialing = false;
  }

  /** True while there is a connection that has been greeted. */
  get connected() {
    return this.socket?.readyState === WebSocket.OPEN && this.socket === this.greeted;
  }

  /** Sends; false when there is no connection. Whether it arrives only an answer can tell. */
  send(type, payload = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ type, payload, id: `m${this.messages.length}`, timestamp: Date.now() }));
    return true;
  }

  #take(types, where) {
    const found = this.messages.find((message) => !this.taken.has(message) && types.includes(message.type) && where(message.payload));
    if (found) this.taken.add(found);
    return found;
  }

  /** The first message of a type (or of several) that no earlier call took, waiting for it if need be. */
  next(types, { where = () => true, ms = PATIENCE_MS, signal } = {}) {
    const wanted = [types].flat();
    return new Promise((resolve, reject) => {
      const settle = (outcome, value) => {
        clearTimeout(timer);
        this.waiting.delete(look);
        outcome(value);
      };
      const look = () => {
        const found = this.#take(wanted, where);
        if (found) settle(resolve, found);
      };
      const timer = setTimeout(() => {
        const others = this.messages.slice(-8).map((message) => `${message.type} ${brief(message.payload, 120)}`);
        settle(reject, new Error(`no ${wanted.join(' or ')} within ${ms} ms; the last messages: ${others.join(' | ') || 'none'}`));
      }, ms);
      signal?.addEventListener('abort', () => settle(resolve, null), { once: true });
      this.waiting.add(look);
      look();
    });
  }

  /** Sends and gives the answer. The answer counts only on the same connection: null when that broke before it came. */
  async ask(type, payload, answers, where) {
    const { socket } = this;
    if (!this.send(type, payload)) return null;
    const broken = new AbortController();
    const abort = () => broken.abort();
    socket.once('close', abort);
    try {
      return await this.next(answers, { where, signal: broken.signal });
    } finally {
      socket.off('close', abort);
    }
  }

  of(type) {
    return this.messages.filter((message) => message.type === type);
  }

  close() {
    this.done = true;
    this.socket?.terminate();
  }
}
