// agents.js - the agent sessions of the Guards view: their clients, and how long until each is looked at and ends.
import { el, fill, region, setText } from './dom.js';
import { count } from './format.js';
import { Refused } from './connection.js';
import { badge, reason, until } from './parts.js';

/**
 * @typedef {import('../../../../proto/docs/paige').AgentSessionState} State
 */

/** @param {State} s */
function verdict(s) {
  if (s.ending) return badge('bad', 'Being ended');
  if (s.clients > 0) return badge('good', 'Stays');
  return s.checkEnds ? badge('warn', 'Will be ended') : badge('good', 'Kept for now');
}

/** @param {State} s */
function work(s) {
  if (s.prompts > 0) return `works on ${count(s.prompts, 'prompt')}`;
  return s.running ? 'waits for a prompt' : 'its program does not run';
}

/** @param {State} s @param {number} now */
function clocks(s, now) {
  if (typeof s.checkMs !== 'number' || typeof s.latestMs !== 'number') return null;
  const next = s.checkEnds ? 'Ends in ' : 'Looked at again in ';
  return el('div', { class: 'machine-facts' }, el('span', {}, next, until(now + s.checkMs)), s.checkReason && el('span', { class: 'aside' }, s.checkReason), !s.checkEnds && el('span', {}, 'at the latest it ends in ', until(now + s.latestMs)));
}

/** @param {State} s @param {number} now */
function row(s, now) {
  const name = s.folder.split('/').pop() || s.folder;
  return el('li', { class: 'machine' }, el('strong', { title: s.folder }, name), el('div', { class: 'machine-facts' }, verdict(s), el('span', {}, s.clients ? count(s.clients, 'client') : 'no client'), el('span', { class: 'aside' }, work(s))), clocks(s, now));
}

/** @param {import('./connection.js').Connection} connection */
export function agentsCard(connection) {
  const list = el('ul', { class: 'machines' });
  const said = el('p', { class: 'empty' }, 'The agent sessions are being read.');
  const root = region('Agents', { class: 'card' }, said, list);
  let shown = false;

  /** @param {string} text empty: nothing is to be said */
  const say = (text) => {
    setText(said, text);
    said.hidden = text === '';
  };
  /** @param {State[]} sessions */
  const draw = (sessions) => {
    const now = Date.now();
    fill(list, sessions.map((one) => row(one, now)));
    say(sessions.length ? '' : 'No agent session. One begins when a program connects to /agent and joins a folder.');
  };
  const begin = () => {
    if (!shown || !connection.tell('agents:follow', { follow: true })) return;
    // The answer comes as what is told later does.
    connection.ask('agents:request', {}, ['agents:state']).catch((error) => {
      const none = error instanceof Refused && error.code === 'NOT_FOUND';
      say(none ? 'No agents are run here. With AGENT_COMMAND the daemon runs Claude Code for programs that connect to /agent.' : reason(error));
    });
  };
  connection.on('connection:init', begin);
  connection.on('agents:state', ({ payload }) => draw(payload.sessions));
  /** @param {boolean} now */
  const show = (now) => {
    if (shown && !now) connection.tell('agents:follow', { follow: false });
    const first = now && !shown;
    shown = now;
    if (first) begin();
  };
  return { root, show };
}
