// agent-person.mjs - somebody who talks to an agent session, and comes back as a real client would when the connection ends:
// with the id of the session. The history then says what became of a prompt, and only one that was cut is sent again.
import assert from 'node:assert/strict';
import { AgentClient } from './agent-client.mjs';
import { until } from './wait.mjs';

/** What the close code may be when the worker was killed: connect again. */
const COME_BACK = 1012;

/** The reason of an answer that never comes. */
export class ConnectionLost extends Error {}

export class AgentPerson {
  /** Of a daemon; `sent` counts how often each prompt was sent, by whomever. */
  constructor(daemon, sent) {
    Object.assign(this, { daemon, sent, session: undefined, seen: [], client: null, ended: false });
  }

  /** What all clients of the session are told, in order, the history included. */
  told() {
    return this.client.messages.filter((m) => m.source === 'cc' || m.type === 'processExit');
  }

  /** Has a connection, a new one if the last was closed. */
  async present() {
    while (!this.client || this.client.closed !== null) {
      if (this.client) {
        assert.equal(this.client.closed, COME_BACK, 'the code of the end of a connection');
        this.seen = this.told();
      }
      this.client = await AgentClient.connect(this.daemon, { session: this.session });
      try {
        await this.answer((m) => ['connected', 'lobbyConnected'].includes(m.type));
        await this.#settled();
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        continue;
      }
      const joined = this.client.messages[0];
      assert.equal(joined.sessionId, this.session, 'the session of who comes back');
      if (!this.ended) assert.deepEqual(this.told().slice(0, this.seen.length), this.seen, 'the history begins with what was seen before');
      return joined;
    }
    return null;
  }

  /** Everything that was said before has arrived: answers come in order. */
  async #settled() {
    this.client.send({ type: 'nothing' });
    await this.answer((m) => m.error === 'Unknown message type: nothing');
  }

  /** The first message that fits, from a position on. */
  answer(fits, from = 0) {
    return this.#wait(() => this.client.messages.slice(from).find(fits));
  }

  async #wait(probe) {
    const { client } = this;
    const found = await until('an answer on /agent', () => probe() || (client.closed !== null && 'lost'), { every: 5 });
    if (found === 'lost') throw new ConnectionLost();
    return found;
  }

  /** Does something until it is done, on as many connections as it takes. */
  async insist(act) {
    for (;;) {
      await this.present();
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  /** Asks something that may be asked again. `at(moment)` is called when it was `sent`. */
  ask(message, type, at = async () => {}) {
    return this.insist(async () => {
      const from = this.client.messages.length;
      this.client.send(message);
      await at('sent');
      return this.answer((m) => m.type === type, from);
    });
  }

  async connectFolder(path, at) {
    const joined = await this.ask({ type: 'connectFolder', path }, 'connected', at);
    this.session = joined.sessionId;
    return joined;
  }

  /** How the last turn of a prompt came out after position `from`: undefined not begun, 'begun', 'cut' by the end of the worker. */
  #outcome(text, from) {
    const told = this.told().slice(from);
    const at = told.findLastIndex((m) => m.event?.type === 'user' && m.event.message.content === text);
    if (at < 0) return undefined;
    const end = told.slice(at).find((m) => m.event?.type === 'result' || m.type === 'processExit');
    if (!end) return 'begun';
    if (end.event) return { result: end.event.result };
    return end.code === null && end.signal === null ? 'cut' : { code: end.code, signal: end.signal };
  }

  /**
   * Says something and gives {result} or {code} of the end of the program. `at(moment)` is called when it was `sent`, and
   * when the program is in the middle of the `turn`. `abort`: takes it back in the middle; then a cut turn is over, too.
   */
  async prompt(text, { at = async () => {}, abort = false } = {}) {
    await this.present();
    const from = this.told().length;
    return this.insist(async () => {
      const before = this.#outcome(text, from);
      assert.notEqual(before, 'begun', 'a turn that was cut by the end of the worker is told to be over');
      if (before === 'cut' && abort) return { result: 'interrupted' };
      if (before && before !== 'cut') return before;
      const mark = this.told().length;
      this.client.send({ type: 'prompt', text });
      this.sent.set(text, (this.sent.get(text) ?? 0) + 1);
      await at('sent');
      const over = () => [this.#outcome(text, mark)].find((outcome) => outcome && outcome !== 'begun');
      const first = await this.#wait(() => over() ?? this.told().slice(mark).find((m) => m.event?.type === 'stream_event'));
      if (first.event) await at('turn');
      if (first.event && abort) {
        this.client.send({ type: 'abort' });
        await at('aborted');
      }
      return this.#wait(over);
    });
  }

  /** Waits until somebody's prompt was answered for all to hear. */
  hear(text) {
    return this.insist(() => this.#wait(() => this.#outcome(text, 0)?.result));
  }

  /** /exit: the session is over when it says so. */
  async goodbye(at) {
    this.ended = true;
    await this.insist(async () => {
      const from = this.client.messages.length;
      this.client.send({ type: 'prompt', text: '/exit' });
      await at('sent');
      await this.answer((m) => m.type === 'sessionClosed', from);
    });
    await at('told');
  }

  async leave() {
    if (this.client.closed === null) await this.client.close();
    this.seen = this.told();
    this.client = null;
  }
}
