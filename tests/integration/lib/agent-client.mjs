// agent-client.mjs - a client of /agent: keeps every message, asks and waits.
import WebSocket from 'ws';
import { until } from './wait.mjs';

export class AgentClient {
  /** Connects, to the lobby or to a session; `token`: with the daemon's token. */
  static async connect(daemon, { session, token = false } = {}) {
    const client = new AgentClient();
    await until('a connection to /agent', () => client.#dial(daemon, session, token), { every: 50 });
    return client;
  }

  async #dial(daemon, session, token) {
    this.messages = [];
    this.closed = null; // the close code
    const query = session === undefined ? '' : `?session=${session}`;
    const socket = new WebSocket(`ws://127.0.0.1:${daemon.port}/agent${query}`, { maxPayload: 64 * 1024 * 1024, headers: token ? { authorization: `Bearer ${daemon.token()}` } : {} });
    socket.on('message', (data) => this.messages.push(JSON.parse(data.toString('utf8'))));
    socket.on('close', (code) => (this.closed = code));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    this.socket = socket;
    return true;
  }

  send(message) {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    return this;
  }

  /** The first message from `from` on that fits; ours have a type, the agent's an event with a type. */
  next(type, where = () => true, from = 0) {
    const fits = (m) => (m.source === 'cc' ? m.event.type : m.type) === type && where(m);
    return until(`${type} from /agent (there are ${this.messages.length} messages)`, () => this.messages.slice(from).find(fits));
  }

  /** Sends and gives the next message of a type. */
  ask(message, type, where) {
    const from = this.messages.length;
    this.send(message);
    return this.next(type, where, from);
  }

  /** A prompt and the text of its result. */
  async prompt(text) {
    const message = await this.ask({ type: 'prompt', text }, 'result');
    return message.event.result;
  }

  async error(message) {
    return (await this.ask(message, 'error')).error;
  }

  join(folder) {
    return this.ask({ type: 'connectFolder', path: folder }, 'connected');
  }

  async close() {
    if (this.closed === null) this.socket.close();
    await until('the end of the connection', () => this.closed !== null);
  }
}
