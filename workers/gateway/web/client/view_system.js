// view_system.js - the System view: the workers with their figures and a way to restart them, what Claude cost, the bus, and the
// settings with where each came from.
import { button, el, fill, region, setText } from './dom.js';
import { count, duration, title } from './format.js';

/**
 * @typedef {import('../../../../proto/docs/paige').StatusState} State
 * @typedef {import('../../../../proto/docs/paige').CtlWorker} Worker
 * @typedef {import('../../../../proto/docs/paige').CostGroup} Group
 */

const SAMPLES = 60;
const RESTART_MS = 60000;
const COST_DAYS = 30;
const SVG = 'http://www.w3.org/2000/svg';

const money = (/** @type {number} */ n) => `$${n.toFixed(n !== 0 && n < 0.1 ? 4 : 2)}`;
const mib = (/** @type {number} */ bytes) => `${(bytes / 1048576).toFixed(1)} MiB`;

/**
 * A line of the last figures; the figure beside it says the newest in words.
 * @param {number[]} values
 */
function spark(values) {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'polyline');
  const top = Math.max(...values, 1);
  svg.setAttribute('viewBox', `0 0 ${SAMPLES} 20`);
  svg.setAttribute('class', 'spark');
  svg.setAttribute('aria-hidden', 'true');
  line.setAttribute('points', values.map((value, i) => `${SAMPLES - values.length + i},${(19 - (value / top) * 18).toFixed(1)}`).join(' '));
  svg.append(line);
  return svg;
}

/** @param {string} name @param {string[]} heads @param {Node[]} rows */
function table(name, heads, rows) {
  return el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': name }, el('table', {}, el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))), el('tbody', {}, rows)));
}

/** @param {string} name @param {Group[]} groups */
function groups(name, groups) {
  return [el('h3', {}, `By ${name}`), table(`Cost by ${name}`, [title(name), 'Calls', 'Failed', 'Tokens in', 'Tokens out', 'Latency', 'Cost'], groups.map((group) => el('tr', {}, el('th', { scope: 'row' }, group.key), ...[group.calls, group.failures, group.inputTokens, group.outputTokens].map((n) => el('td', { class: 'number' }, n.toLocaleString())), el('td', { class: 'number' }, group.averageLatencyMs === null ? 'none' : `${Math.round(group.averageLatencyMs)} ms`), el('td', { class: 'number' }, money(group.cost)))))];
}

/** @param {number} spent @param {number | null} budget */
function against(spent, budget) {
  return budget === null ? `${money(spent)}, without a budget` : `${money(spent)} of ${money(budget)}`;
}

/** @param {[string, string][]} list */
function facts(list) {
  return el('dl', { class: 'facts-list' }, list.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function systemView({ connection, fleet }) {
  const summary = el('p', { class: 'lead' });
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const said = el('p', { class: 'aside', 'aria-live': 'polite' });
  const body = el('tbody');
  const bus = el('div', {}, el('p', { class: 'empty' }, 'The figures are being read.'));
  const cost = el('div', {}, el('p', { class: 'empty' }, 'The figures are being read.'));
  const settings = el('div', {}, el('p', { class: 'empty' }, 'The settings are being read.'));
  /** @type {Map<string, {row: HTMLElement, cells: HTMLElement[], memory: number[], cpu: number[]}>} */
  const rows = new Map();
  let refused = false;
  let shown = false;

  const restart = async (/** @type {string} */ worker) => {
    if (!window.confirm(`Restart ${worker}? What it is doing is taken up again by the next one.`)) return;
    setText(said, `Restarting ${worker}.`);
    try {
      const { payload } = await connection.ask('worker:restart', { worker }, ['worker:restarted'], { ms: RESTART_MS });
      setText(said, `${worker} was restarted in ${payload.tookMs} ms.`);
    } catch (error) {
      setText(said, `${worker}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const rowOf = (/** @type {string} */ name) => {
    const old = rows.get(name);
    if (old) return old;
    const cells = Array.from({ length: 5 }, () => el('td', { class: 'number' }));
    const row = el('tr', {}, el('th', { scope: 'row' }, name), ...cells, el('td', {}, button('Restart', () => restart(name), { class: 'small', 'aria-label': `Restart ${name}` })));
    const made = { row, cells, memory: /** @type {number[]} */ ([]), cpu: /** @type {number[]} */ ([]) };
    rows.set(name, made);
    body.append(row);
    return made;
  };
  const drawWorker = (/** @type {Worker} */ worker) => {
    const { cells, memory, cpu } = rowOf(worker.name);
    memory.push(worker.rss_bytes);
    cpu.push(worker.cpu_percent);
    for (const list of [memory, cpu]) if (list.length > SAMPLES) list.shift();
    const good = worker.state === 'ready' && worker.condition === 'fine';
    fill(cells[0], el('span', { class: `badge ${good ? 'good' : 'bad'}` }, good ? 'Up' : `${title(worker.state)}, ${worker.condition}${worker.reason ? `: ${worker.reason}` : ''}`));
    setText(cells[1], duration(worker.uptime_ms));
    setText(cells[2], String(worker.restarts.total ?? 0));
    fill(cells[3], mib(worker.rss_bytes), spark(memory));
    fill(cells[4], `${worker.cpu_percent.toFixed(1)} %`, spark(cpu));
  };
  connection.on('status:state', ({ payload: { daemon, bus: figures } }) => {
    if (!shown) return;
    setText(summary, `Version ${daemon.version}, ${daemon.state} for ${duration(daemon.uptime_ms)}. The project is ${daemon.project_dir}.`);
    daemon.workers.forEach(drawWorker);
    fill(bus, facts([['Calls', figures.calls.toLocaleString()], ['Under way', String(figures.inFlight)], ['Timed out', String(figures.timeouts)], ['Reset', String(figures.resets)], ['Repeated', String(figures.repeats)], ['Events', figures.events.toLocaleString()], ['Gaps in events', String(figures.gaps)], ['Windows', String(figures.windows)]]));
  });
  // Who may not see more sees what /health tells everybody.
  fleet.watch(({ health }) => {
    if (!refused || !health) return;
    setText(summary, `${title(health.status)}, up for ${duration(health.uptime * 1000)}.`);
    for (const [name, state] of Object.entries(health.workers)) fill(rowOf(name).cells[0], el('span', { class: `badge ${state === 'up' ? 'good' : 'bad'}` }, title(state)));
  });
  const read = async () => {
    if (!shown || !connection.status.now.up) return;
    connection.tell('status:follow', { follow: true });
    try {
      await connection.ask('status:request', {}, ['status:state']);
      const { payload } = await connection.ask('settings:request', {}, ['settings:state']);
      fill(settings, table('Settings', ['Setting', 'Value', 'From', 'What it is for'], payload.settings.map((one) => el('tr', {}, el('th', { scope: 'row' }, one.name), el('td', {}, one.value || '(empty)'), el('td', {}, one.source), el('td', { class: 'wide' }, one.meaning)))));
      problem.hidden = true;
    } catch (error) {
      refused = true;
      problem.hidden = false;
      setText(problem, error instanceof Error ? error.message : String(error));
    }
    const answer = await connection.ask('cost:request', { days: COST_DAYS }, ['cost:totals']).catch(() => null);
    if (!answer) return;
    const { total, days, models, kinds, budget } = answer.payload;
    fill(cost, facts([['Today', against(budget.spentDay, budget.day)], ['This session', against(budget.spentSession, budget.session)], [`Last ${COST_DAYS} days`, `${money(total.cost)}, ${count(total.calls, 'call')}, ${total.failures} failed`]]), total.calls > 0 ? [...groups('day', days.filter((day) => day.calls > 0)), ...groups('model', models), ...groups('kind', kinds)] : []);
  };
  connection.on('connection:init', read);
  const workers = el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': 'All workers' }, el('table', {}, el('thead', {}, el('tr', {}, ['Worker', 'State', 'Up for', 'Restarts', 'Memory', 'Processor', ''].map((name) => (name ? el('th', { scope: 'col' }, name) : el('td', {}))))), body));
  const root = el('div', { class: 'page' }, el('h1', {}, 'System'), summary, problem, region('Workers', { class: 'card' }, workers, said), region('Calls to Claude', { class: 'card' }, cost), region('Bus', { class: 'card' }, bus), region('Settings', { class: 'card' }, settings), el('p', { class: 'aside' }, 'Counters for a monitoring system: ', el('a', { href: '/metrics' }, '/metrics'), '. On the command line: ', el('code', {}, 'paigectl doctor'), '.'));
  return {
    root,
    show() {
      if (shown) return;
      shown = true;
      read();
    },
    hide() {
      shown = false;
      connection.tell('status:follow', { follow: false });
    },
    title: () => 'System',
  };
}
