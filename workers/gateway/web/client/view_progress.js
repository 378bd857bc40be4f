// view_progress.js - the Progress view: what the learner can do by now, what comes next, and katas to practise.
import { button, el, fill, freshId, region, setText } from './dom.js';
import { bars, ChartBox, colour } from './charts.js';
import { count, duration, moment, percent, title } from './format.js';
import { kataItem, Solutions } from './kata.js';
import { facts, number, reason, table } from './parts.js';

/**
 * @typedef {import('../../../../proto/docs/paige').DashboardState} State
 * @typedef {import('../../../../proto/docs/paige').DashboardIssue} Issue
 * @typedef {import('../../../../proto/docs/paige').DashboardSkill} Skill
 * @typedef {import('../../../../proto/docs/paige').LearningRecommendation} Recommendation
 * @typedef {import('./connection.js').Connection} Connection
 */

const stages = ['novice', 'advanced beginner', 'competent', 'proficient', 'expert'];
/** A radar of fewer than three corners is a line. */
const CORNERS_MIN = 3;
const CORNERS_MAX = 12;
const HISTORY_MAX = 6;
const DAY_MS = 86400000;
/** Days that are asked for when all time is, and beyond how many only those from the first one on are drawn. */
const DAYS_ALL = 366;
const DAYS_DRAWN = 30;

/** @param {string} stage */
function level(stage) {
  return stages.indexOf(stage.toLowerCase().replace(/_/g, ' ')) + 1;
}

/**
 * The newest assessment of each skill; the daemon tells the newest first.
 * @param {Skill[]} skills
 */
function newest(skills) {
  /** @type {Map<string, Skill[]>} */
  const by = new Map();
  for (const skill of skills) by.set(skill.skillArea, [...(by.get(skill.skillArea) ?? []), skill]);
  return by;
}

/**
 * An address that a link may have; null for any other.
 * @param {string} text
 */
function address(text) {
  try {
    const url = new URL(text);
    return ['http:', 'https:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * The skills as a radar. Everything that it says stands in the table beside it.
 * @param {Map<string, Skill[]>} skills
 */
function radar(skills) {
  const shown = [...skills].slice(0, CORNERS_MAX);
  return () => ({
    type: 'radar',
    data: { labels: shown.map(([name]) => name), datasets: [{ data: shown.map(([, [skill]]) => level(skill.stage)), backgroundColor: `${colour('--accent')}33`, borderColor: colour('--accent'), pointBackgroundColor: colour('--accent') }] },
    options: {
      animation: false,
      plugins: { legend: { display: false }, tooltip: { callbacks: { label: (/** @type {any} */ item) => title(stages[item.raw - 1] ?? 'unknown') } } },
      scales: { r: { min: 0, max: stages.length, ticks: { stepSize: 1, color: colour('--soft'), backdropColor: 'transparent', callback: (/** @type {number} */ value) => stages[value - 1] ?? '' }, grid: { color: colour('--line') }, angleLines: { color: colour('--line') }, pointLabels: { color: colour('--text') } } },
    },
  });
}

/**
 * Activity by day and time in session: bars, and the same as a table.
 * @param {Connection} connection
 */
function daysCard(connection) {
  const chart = new ChartBox('Minutes in session by day as bars; the table says the same', 'bars');
  const said = el('p', { class: 'aside', role: 'note' }, 'The days are being read.');
  const rows = el('tbody');
  const more = el('details', {}, el('summary', {}, 'Day by day'), table('Days', ['Day', '#Sessions', '#Time in session', '#Actions'], rows));
  more.hidden = true;
  const minutes = (/** @type {number} */ n) => duration(n * 60000);
  /** @param {number} days */
  const read = async (days) => {
    try {
      const { payload } = await connection.ask('progress:request', { days }, ['progress:days']);
      const by = new Map(payload.days.map((day) => [day.day, day]));
      const sum = (/** @type {'minutes' | 'actions' | 'sessions'} */ what) => payload.days.reduce((total, day) => total + day[what], 0);
      setText(said, payload.days.length === 0 ? 'There was no session in this time.' : `Active on ${count(payload.days.length, 'day')}, ${count(sum('sessions'), 'session')}, ${minutes(sum('minutes'))} in session, ${count(sum('actions'), 'action')}. A session counts for the day it began on (UTC).`);
      more.hidden = payload.days.length === 0;
      fill(rows, [...payload.days].reverse().map((day) => el('tr', {}, el('th', { scope: 'row' }, day.day), number(String(day.sessions)), number(minutes(day.minutes)), number(day.actions.toLocaleString()))));
      // All time begins with the first day that has something.
      const first = days > DAYS_DRAWN && payload.days.length > 0 ? Date.parse(payload.days[0].day) : Date.parse(payload.since);
      const labels = [];
      for (let at = first; at <= Date.now() && labels.length < DAYS_ALL; at += DAY_MS) labels.push(new Date(at).toISOString().slice(0, 10));
      chart.draw(sum('minutes') < 1 ? null : bars({ labels: labels.map((label) => label.slice(5)), values: labels.map((label) => Math.round((by.get(label)?.minutes ?? 0) * 10) / 10), name: 'Minutes', unit: (value) => `${Math.round(value * 10) / 10} min` }));
    } catch (error) {
      setText(said, reason(error));
    }
  };
  return { root: region('Activity by day', { class: 'card' }, said, chart.root, more), read };
}

/** @param {Map<string, Skill[]>} skills */
function skillRows(skills) {
  return [...skills].map(([name, history]) => el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, title(history[0].stage)), el('td', { class: 'number' }, `${percent(history[0].confidence)} sure`), el('td', { class: 'wide' }, el('ol', { class: 'history' }, history.slice(0, HISTORY_MAX).reverse().map((skill) => el('li', {}, el('span', { class: 'badge plain', title: `${percent(skill.confidence)} sure` }, `${title(skill.stage)}, ${moment(skill.assessedAt)}`)))))));
}

/** @param {Issue} issue @param {() => void} start */
function issueItem(issue, start) {
  const why = [issue.priorityFactors.userTagged && 'assigned to you', issue.priorityFactors.similarToRecentWork && 'like your recent work', issue.priorityFactors.addressesKnowledgeGap && 'closes a gap', `${issue.priorityFactors.teamUrgency} urgency`].filter((text) => typeof text === 'string');
  return el('li', { class: 'bubble' }, el('div', { class: 'bubble-head' }, el('strong', {}, `#${issue.number} ${issue.title}`), el('span', { class: `badge ${issue.suitability === 'too_advanced' ? 'bad' : issue.suitability === 'good_fit' ? 'good' : 'plain'}` }, title(issue.suitability)), el('span', { class: 'badge plain' }, title(issue.estimatedDifficulty))), el('p', { class: 'text' }, issue.summary), el('p', { class: 'aside' }, issue.suitabilityReason), el('ul', { class: 'facts' }, [...why, ...issue.relevantSkills].map((text) => el('li', {}, text))), el('div', { class: 'row end' }, button('Work on it', start, { class: 'small', 'aria-label': `Work on issue ${issue.number}` })));
}

/** @param {Recommendation} item */
function material(item) {
  return el('li', { class: 'bubble' }, el('strong', {}, item.knowledgeGap), el('ul', {}, item.resources.map((resource) => {
    const href = address(resource.url);
    return el('li', {}, href ? el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, resource.title) : resource.title, ` (${title(resource.type)}, ${resource.estimatedTime}): ${resource.description}`);
  })), el('p', { class: 'aside' }, item.studyOrder));
}

/** @param {State} state */
function figures({ stats }) {
  return facts([['Sessions completed', String(stats.sessionsCompleted)], ['Time with the coach', duration(stats.totalCoachingMinutes * 60000)], ['Issues', String(stats.issuesWorkedOn)], ['Gaps closed', `${stats.knowledgeGapsAddressed} of ${stats.knowledgeGapsIdentified}`], ['Hints used', String(stats.hintsUsed)], ['Cost of Claude', `$${stats.apiCostTotal.toFixed(2)}`]]);
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function progressView({ connection, session }) {
  const chart = new ChartBox('Skills as a radar; the table beside it says the same', 'radar');
  const days = daysCard(connection);
  const rows = el('tbody');
  const noSkills = el('p', { class: 'empty' }, 'Skills are assessed when a session is wrapped up.');
  const skillTable = table('Skills', ['Skill', 'Stage', '#Confidence', 'History'], rows);
  const stats = el('div', {}, el('p', { class: 'empty' }, 'The figures are being read.'));
  const running = el('ul', { class: 'bubbles' });
  const katas = el('div', {});
  const noKatas = el('p', { class: 'empty', hidden: true }, 'Katas are made when a session is wrapped up, one for each gap.');
  const solutions = new Solutions();
  /** @type {Map<string, ReturnType<typeof kataItem>>} */
  const boxes = new Map();
  const issues = el('ol', { class: 'bubbles' });
  const issuesSaid = el('p', { class: 'empty', role: 'note' }, 'Claude is looking at the open issues.');
  const materials = el('ol', { class: 'bubbles' });
  const materialsSaid = el('p', { class: 'empty', role: 'note' }, 'The gaps are being read.');
  const period = el('select', { id: freshId('period'), onchange: () => (read(), readDays()) }, el('option', { value: '7d' }, '7 days'), el('option', { value: '30d' }, '30 days'), el('option', { value: 'all', selected: true }, 'All time'));
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  let seen = false;
  /** There was an answer: what to read, or why that is not known. */
  let materialsKnown = false;

  const read = () => void (seen && connection.tell('dashboard:request', { statsPeriod: /** @type {'7d'} */ (period.value), reuse: true }));
  const readDays = () => void (seen && connection.status.now.up && days.read(/** @type {Record<string, number>} */ ({ '7d': 7, '30d': 30 })[period.value] ?? DAYS_ALL));
  const drawKatas = (/** @type {State['katas']} */ now) => {
    for (const kata of now) {
      if (!boxes.has(kata.id)) boxes.set(kata.id, kataItem(connection, solutions, kata));
      boxes.get(kata.id)?.set(kata);
    }
    const ids = new Set(now.map(({ id }) => id));
    // One that is gone stays while it holds what somebody has typed.
    for (const [id, box] of boxes) {
      if (ids.has(id)) continue;
      box.leave();
      if (!box.typed()) boxes.delete(id);
    }
    const shown = [...boxes.values()].map(({ root: one }) => one);
    noKatas.hidden = shown.length > 0;
    // An element that is put in again loses the focus, and the state is told whenever any window asks for it.
    if (shown.length !== katas.children.length || shown.some((one, i) => one !== katas.children[i])) fill(katas, shown);
  };
  const fail = (/** @type {Error} */ error) => {
    setText(problem, error.message);
    problem.hidden = false;
  };
  const begin = (/** @type {number} */ number) => connection.ask('session:start', { issueNumber: number }, ['session:started']).then(() => (location.hash = '#/work')).catch(fail);
  const resume = (/** @type {string} */ id) => connection.ask('session:resume', { sessionId: id }, ['session:resumed']).then(() => (location.hash = '#/work')).catch(fail);
  connection.on('dashboard:state', ({ payload }) => {
    const skills = newest(payload.dreyfus);
    chart.draw(skills.size < CORNERS_MIN ? null : radar(skills));
    fill(rows, skillRows(skills));
    noSkills.hidden = skills.size > 0;
    skillTable.hidden = skills.size === 0;
    fill(stats, figures(payload));
    // Nobody is asked, and no answer comes, as long as there is no gap.
    if (!materialsKnown) setText(materialsSaid, payload.stats.knowledgeGapsIdentified > payload.stats.knowledgeGapsAddressed ? 'Claude is looking for materials.' : 'What to read is found for the gaps that a session has shown.');
    fill(running, payload.inProgressSessions.map((one) => el('li', { class: 'row' }, el('span', {}, `${one.issueNumber ? `Issue ${one.issueNumber}${one.issueTitle ? `: ${one.issueTitle}` : ''}` : 'Without an issue'}, begun ${moment(one.startedAt)}`), one.id === session.active.now?.id ? el('span', { class: 'badge good' }, 'Under way') : button('Resume', () => resume(one.id), { class: 'small' }))));
    drawKatas(payload.katas);
  });
  connection.on('dashboard:issues', ({ payload }) => {
    fill(issues, payload.issues.map((issue) => issueItem(issue, () => begin(issue.number))));
    setText(issuesSaid, payload.issues.length ? '' : 'There is no open issue.');
  });
  connection.on('dashboard:issues_error', ({ payload }) => setText(issuesSaid, payload.error));
  connection.on('dashboard:materials', ({ payload }) => {
    materialsKnown = true;
    fill(materials, payload.recommendations.map(material));
    setText(materialsSaid, payload.recommendations.length ? '' : 'Nothing to read was found.');
  });
  connection.on('dashboard:materials_error', ({ payload }) => {
    materialsKnown = true;
    setText(materialsSaid, payload.error);
  });
  connection.on('connection:init', read);
  connection.on('connection:init', readDays);
  connection.on('connection:init', () => boxes.forEach((box) => box.again()));
  connection.status.watch(({ up }) => up || boxes.forEach((box) => box.lost()));
  for (const type of /** @type {const} */ (['review:response', 'review:error'])) connection.on(type, (message) => boxes.get(message.payload.kataId ?? '')?.heard(message));
  const root = el(
    'div',
    { class: 'page' },
    el('h1', {}, 'Progress'),
    problem,
    region('Figures', { class: 'card' }, el('div', { class: 'row' }, el('label', { for: period.id }, 'Of'), period), stats, running),
    region('Skills', { class: 'card skills' }, noSkills, chart.root, skillTable),
    days.root,
    region('Katas', { class: 'card' }, noKatas, katas),
    region('Issues', { class: 'card' }, issuesSaid, issues, button('Look again', () => connection.tell('dashboard:refresh_issues', {}))),
    region('Materials', { class: 'card' }, materialsSaid, materials),
  );
  return {
    root,
    show() {
      if (seen) return;
      seen = true;
      if (connection.status.now.up) read();
      readDays();
    },
    hide() {},
    title: () => 'Progress',
  };
}
