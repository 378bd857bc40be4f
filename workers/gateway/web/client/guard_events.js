// guard_events.js - the events of one guard machine, gone through with a scrubber, and what was said in an interview until then.
import { button, el, fill, freshId, region, setText } from './dom.js';
import { clock, count, instant, title, words } from './format.js';
import { badge, reason } from './parts.js';

/**
 * @typedef {import('../../../../proto/docs/paige').GuardKind} Kind
 * @typedef {import('../../../../proto/docs/paige').GuardStreamEvent} Step
 * @typedef {import('./connection.js').Connection} Connection
 */

const STEPS_MAX = 5000;
/** One event after the other, however long the pause between them was: what nobody does is not replayed. */
const PLAY_MS = 600;
const REPLAY_MS = 60000;

/** What of an interview people read, by the type of its row: who says it, and the member that has the text. */
const lines = /** @type {Record<string, [string, string]>} */ ({
  PROMPT_PRESENTED: ['Interviewer', 'prompt_text'],
  FOLLOWUP_PRESENTED: ['Interviewer, follow-up', 'prompt_text'],
  CANDIDATE_MESSAGE: ['Candidate', 'text'],
  CANDIDATE_CODE_SUBMISSION: ['Candidate, code', 'code'],
  ASSISTANT_QUERY: ['Candidate, to the assistant', 'text'],
  ASSISTANT_RESPONSE: ['Assistant', 'text'],
  ASSISTANT_RESPONSE_BLOCKED: ['Assistant, blocked', 'text'],
});
const headings = new Set(['SECTION_STARTED', 'SECTION_ENDED', 'SECTION_TIME_WARNING', 'INTERVIEW_COMPLETED', 'INTERVIEW_TERMINATED']);

/** @param {Step} step one line of the transcript; null when nobody says anything in it */
function said({ type, at, payload: any }) {
  const payload = /** @type {Record<string, unknown>} */ (any ?? {});
  const line = lines[type];
  if (headings.has(type)) {
    const about = [payload.section_name ?? (payload.section_id && title(String(payload.section_id))), payload.reason && words(String(payload.reason))].filter(Boolean).join(', ');
    return el('li', { class: 'turn-heading' }, el('strong', {}, title(type)), about && ` ${about}`, ' ', el('time', {}, clock(at)));
  }
  if (!line) return null;
  const [who, member] = line;
  const text = String(payload[member] ?? '');
  const kind = who.startsWith('Candidate') ? 'candidate' : 'other';
  return el('li', { class: `turn ${kind}` }, el('div', { class: 'bubble-head' }, el('strong', {}, who), payload.late === true && badge('warn', 'Late'), el('time', {}, clock(at))), member === 'code' ? el('pre', { tabindex: '0', 'aria-label': `Code in ${payload.language || 'an unnamed language'}` }, text) : el('p', { class: 'text' }, text || 'said nothing'));
}

/** What was said in an interview. */
class Transcript {
  constructor() {
    this.list = el('ol', { class: 'turns' });
    this.empty = el('p', { class: 'empty' }, 'Nothing has been said yet.');
    this.root = region('Transcript', { class: 'card' }, this.empty, el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': 'What was said' }, this.list));
    /** @type {{seq: number, node: HTMLElement}[]} */
    this.turns = [];
    this.seq = 0;
  }

  clear() {
    Object.assign(this, { turns: [], seq: 0 });
    this.list.replaceChildren();
  }

  /**
   * @param {Step[]} steps all that are known
   * @param {number} until what came later is not shown
   */
  draw(steps, until) {
    for (const step of steps) {
      if (step.seq <= this.seq) continue;
      this.seq = step.seq;
      const node = said(step);
      if (!node) continue;
      this.turns.push({ seq: step.seq, node });
      this.list.append(node);
    }
    let last;
    for (const { seq, node } of this.turns) {
      node.hidden = seq > until;
      if (!node.hidden) last = node;
    }
    this.empty.hidden = Boolean(last);
    const box = /** @type {HTMLElement} */ (this.list.parentElement);
    if (last) box.scrollTop = last.offsetTop + last.offsetHeight - box.clientHeight;
  }
}

/** The events of a stream, one at a time. */
export class Scrubber {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.range = el('input', { id: freshId('step'), type: 'range', min: '1', max: '1', value: '1', oninput: () => this.draw() });
    this.place = el('p', { class: 'number' });
    this.what = el('h3');
    this.data = el('pre', { tabindex: '0', 'aria-label': 'What the event says' });
    this.verdict = el('p', { 'aria-live': 'polite' });
    this.play = button('Play', () => (this.timer ? this.stop() : this.start()));
    this.transcript = new Transcript();
    const parts = [button('First', () => this.to(1)), button('Previous', () => this.to(this.at - 1)), this.play, button('Next', () => this.to(this.at + 1)), button('Last', () => this.to(this.steps.length)), button('Check the stream', () => this.check())];
    this.root = el('div', {}, this.transcript.root, region('Events', { class: 'card' }, el('label', { for: this.range.id, class: 'unseen' }, 'Event'), this.range, el('div', { class: 'row' }, parts), this.place, this.what, this.data, this.verdict));
    this.timer = 0;
    /** @type {Step[]} */
    this.steps = [];
    this.shown = { kind: /** @type {Kind} */ ('idle'), id: '' };
    this.busy = false;
    this.again = false;
  }

  get at() {
    return Number(this.range.value);
  }

  draw() {
    const step = this.steps[this.at - 1];
    if (!step) return;
    const first = this.steps[0].at;
    const s = Math.floor((step.at - first) / 1000);
    setText(this.place, `Event ${this.at} of ${this.steps.length}, ${instant(step.at)}, ${this.at === 1 ? 'at the beginning' : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')} min after the first`}, by ${words(step.actor)}`);
    setText(this.what, title(step.type));
    setText(this.data, JSON.stringify(step.payload, null, 2));
    this.range.setAttribute('aria-valuetext', `${this.at}: ${title(step.type)}`);
    if (this.shown.kind === 'interview') this.transcript.draw(this.steps, step.seq);
  }

  /** @param {number} step */
  to(step) {
    this.range.value = String(step);
    this.draw();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    setText(this.play, 'Play');
  }

  start() {
    setText(this.play, 'Stop');
    if (this.at >= this.steps.length) this.to(1);
    this.timer = window.setInterval(() => {
      this.to(this.at + 1);
      if (this.at >= this.steps.length || !this.root.isConnected) this.stop();
    }, PLAY_MS);
  }

  async check() {
    const mine = this.shown;
    setText(this.verdict, 'The stream is being replayed.');
    try {
      const { payload } = await this.connection.ask('guard:replay', mine, ['guard:replayed'], { ms: REPLAY_MS });
      if (mine === this.shown) setText(this.verdict, payload.ok ? `Replayed ${count(payload.rows, 'row')}: every one came out as it is stored.` : `The stream does not agree: ${payload.problem ?? 'no reason was given'}`);
    } catch (error) {
      setText(this.verdict, reason(error));
    }
  }

  /**
   * Reads what is new of a stream.
   * @param {Kind} kind
   * @param {string} id
   */
  async read(kind, id) {
    if (this.shown.kind !== kind || this.shown.id !== id) this.open(kind, id);
    else if (this.busy) return void (this.again = true);
    this.busy = true;
    const mine = this.shown;
    const atEnd = this.at >= this.steps.length;
    try {
      for (let more = true; more && this.steps.length < STEPS_MAX; ) {
        const { payload } = await this.connection.ask('guard:events', { kind, id, since: this.steps[this.steps.length - 1]?.seq ?? 0 }, ['guard:stream']);
        if (mine !== this.shown) return;
        this.steps.push(...payload.events);
        more = payload.events.length > 0;
      }
    } catch {
      // Read again with the next change.
    }
    if (mine !== this.shown) return;
    this.busy = false;
    this.range.max = String(Math.max(1, this.steps.length));
    if (atEnd && !this.timer) this.range.value = this.range.max;
    this.draw();
    if (this.again) {
      this.again = false;
      this.read(kind, id);
    }
  }

  /** @param {Kind} kind @param {string} id */
  open(kind, id) {
    this.stop();
    Object.assign(this, { steps: [], shown: { kind, id }, busy: false, again: false });
    this.range.max = this.range.value = '1';
    this.transcript.clear();
    this.transcript.root.hidden = kind !== 'interview';
    this.transcript.empty.hidden = false;
    for (const node of [this.verdict, this.place, this.what, this.data]) setText(node, '');
  }
}
