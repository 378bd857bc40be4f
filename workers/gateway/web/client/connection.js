// connection.js - the WebSocket to the daemon: says hello, comes back by itself and resumes where it was, and matches answers
// to questions. Knows no message but those of the connection.
import { Value } from './store.js';

/**
 * @typedef {import('../../../../proto/docs/paige').ServerMessage} ServerMessage
 * @typedef {import('../../../../proto/docs/paige').ServerPayloads} ServerPayloads
 * @typedef {import('../../../../proto/docs/paige').ClientPayloads} ClientPayloads
 * @typedef {import('../../../../proto/docs/paige').ConnectionInit} ConnectionInit
 * @typedef {{up: boolean, since: number, init: ConnectionInit | null}} Status `init`: of the last connection that was greeted.
 * @typedef {{types: string[], settle: (message: ServerMessage) => void, fail: (error: Error) => void, timer: number}} Question
 */

const AGAIN_MS = 250;
const AGAIN_MAX_MS = 5000;
/** A daemon that does not answer the hello within this is dialed anew. */
const GREETING_MS = 10000;
const ANSWER_MS = 15000;
/** After so long without a word the daemon is asked whether it is there: a connection that nobody closed can still be dead. */
const QUIET_MS = 5000;
const PONG_MS = 5000;
const QUESTIONS_MAX = 256;

/** What the daemon answers when it refuses. */
export class Refused extends Error {
  /** @param {import('../../../../proto/docs/paige').ConnectionError} payload */
  constructor({ code, message, missing }) {
    super(message);
    this.code = code;
    /** There is no such file. */
    this.missing = missing === true;
  }
}

export class Connection {
  constructor() {
    /** @type {Value<Status>} */
    this.status = new Value(/** @type {Status} */ ({ up: false, since: Date.now(), init: null }));
    /** @type {Map<string, Set<(message: any) => void>>} */
    this.handlers = new Map();
    /** @type {Map<string, Question>} */
    this.questions = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.seq = 0;
    this.count = 0;
    this.again = AGAIN_MS;
    this.timer = 0;
    this.quiet = 0;
    /** Whoever listens is there. */
    this.begun = false;
    this.heard = Date.now();
    this.began = Date.now().toString(36);
    for (const event of ['online', 'pageshow']) window.addEventListener(event, () => this.hurry());
    document.addEventListener('visibilitychange', () => document.hidden || this.hurry());
  }

  /** Connects, and goes on connecting until the page is left. The daemon is greeted after `begin`. */
  start() {
    clearTimeout(this.timer);
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
    this.socket = socket;
    this.timer = window.setTimeout(() => this.drop(socket), GREETING_MS);
    socket.onopen = () => this.begun && this.hello();
    socket.onmessage = (event) => this.take(socket, String(event.data));
    socket.onclose = () => this.lost(socket);
  }

  /** Greets the daemon, which tells what it has: its handlers are there. */
  begin() {
    this.begun = true;
    if (this.socket?.readyState === WebSocket.OPEN) this.hello();
  }

  /** Does not wait: for the next try, or for silence before it asks whether the daemon is there. */
  hurry() {
    if (!this.socket) this.start();
    else if (this.status.now.up) this.probe(this.socket);
  }

  /** @param {WebSocket} socket */
  listenOn(socket) {
    this.heard = Date.now();
    clearTimeout(this.quiet);
    this.quiet = window.setTimeout(() => this.probe(socket), QUIET_MS);
  }

  /** @param {WebSocket} socket */
  probe(socket) {
    clearTimeout(this.quiet);
    this.ask('connection:ping', {}, ['connection:pong'], { ms: PONG_MS }).catch((error) => {
      if (!(error instanceof Refused) && Date.now() - this.heard >= PONG_MS) this.drop(socket);
    });
  }

  /**
   * Gives up a connection without waiting for the other side.
   * @param {WebSocket} socket
   */
  drop(socket) {
    socket.close();
    this.lost(socket);
  }

  hello() {
    const { init } = this.status.now;
    const resume = init ? { epoch: init.epoch, seq: this.seq, connectionId: init.connectionId } : { epoch: 'none', seq: 0 };
    const { innerWidth: width, innerHeight: height } = window;
    this.put('connection:hello', { version: '1.0.0', platform: 'web', wantsProgress: true, listsDirectories: true, windowSize: { width, height }, resume }, 'hello');
  }

  /** @param {WebSocket} socket @param {string} text */
  take(socket, text) {
    if (socket !== this.socket) return;
    /** @type {ServerMessage} */
    const message = JSON.parse(text);
    this.seq = message.seq;
    this.listenOn(socket);
    if (message.type === 'connection:init') {
      clearTimeout(this.timer);
      this.again = AGAIN_MS;
      this.status.set({ up: true, since: Date.now(), init: message.payload });
    }
    this.answer(message);
    for (const handler of this.handlers.get(message.type) ?? []) handler(message);
  }

  /** @param {ServerMessage} message */
  answer(message) {
    const question = message.id === undefined ? undefined : this.questions.get(message.id);
    if (!question || message.id === undefined) return;
    if (message.type === 'connection:error') {
      this.forget(message.id, question);
      question.fail(new Refused(message.payload));
    } else if (question.types.includes(message.type)) {
      this.forget(message.id, question);
      question.settle(message);
    }
  }

  /** @param {string} id @param {Question} question */
  forget(id, question) {
    clearTimeout(question.timer);
    this.questions.delete(id);
  }

  /** @param {WebSocket} socket */
  lost(socket) {
    if (socket !== this.socket) return;
    this.socket = null;
    clearTimeout(this.timer);
    clearTimeout(this.quiet);
    // Since the last word, since a connection may have been dead for some seconds before that was noticed.
    if (this.status.now.up) this.status.update((status) => ({ ...status, up: false, since: this.heard }));
    for (const [id, question] of [...this.questions]) {
      this.forget(id, question);
      question.fail(new Error('The connection to Paige was lost before the answer came.'));
    }
    this.timer = window.setTimeout(() => this.start(), this.again * (0.75 + Math.random() / 2));
    this.again = Math.min(this.again * 2, AGAIN_MAX_MS);
  }

  /** @param {string} type @param {unknown} payload @param {string} [id] */
  put(type, payload, id) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ type, payload, id, timestamp: Date.now() }));
    return true;
  }

  /**
   * Sends what has no answer. False: there is no connection.
   * @template {keyof ClientPayloads} T
   * @param {T} type
   * @param {ClientPayloads[T]} payload
   */
  tell(type, payload) {
    return this.status.now.up && this.put(type, payload);
  }

  /**
   * Sends and gives the answer; fails with Refused, or when the connection is lost or the answer does not come.
   * @template {keyof ClientPayloads} T
   * @template {keyof ServerPayloads} A
   * @param {T} type
   * @param {ClientPayloads[T]} payload
   * @param {A[]} answers
   * @param {{ms?: number}} [options]
   * @returns {Promise<{type: A, payload: ServerPayloads[A]}>}
   */
  ask(type, payload, answers, options) {
    const ms = options?.ms ?? ANSWER_MS;
    this.count += 1;
    const id = `${this.began}-${this.count}`;
    return new Promise((resolve, reject) => {
      if (this.questions.size >= QUESTIONS_MAX) return reject(new Error('Too many questions wait for an answer.'));
      if (!this.status.now.up || !this.put(type, payload, id)) return reject(new Error('There is no connection to Paige.'));
      const timer = window.setTimeout(() => {
        this.questions.delete(id);
        reject(new Error(`Paige did not answer within ${ms / 1000} seconds.`));
      }, ms);
      const settle = /** @type {(message: any) => void} */ (resolve);
      this.questions.set(id, { types: answers, settle, fail: reject, timer });
    });
  }

  /**
   * @template {keyof ServerPayloads} T
   * @param {T} type
   * @param {(message: {type: T, payload: ServerPayloads[T], timestamp: number, id?: string}) => void} handler
   * @returns {() => void} ends it
   */
  on(type, handler) {
    const handlers = this.handlers.get(type) ?? new Set();
    this.handlers.set(type, handlers);
    handlers.add(handler);
    return () => handlers.delete(handler);
  }
}
