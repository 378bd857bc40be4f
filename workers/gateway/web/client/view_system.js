// view_system.js - the System view: the workers with their figures and a way to restart them, each with a page of its own, what
// doctor finds, what Claude cost, the bus, and the settings with where each came from.
import { button, el, fill, freshId, region, setText } from './dom.js';
import { watchFleet } from './fleet.js';
import { clock, count, duration, title } from './format.js';
import { badge, facts, reason, SAMPLES, spark, table } from './parts.js';
import { costCard } from './system_cost.js';
import { mib, stateOf, SUPERVISOR, workerPage } from './system_worker.js';

/**
 * @typedef {import('../../../../proto/docs/paige').StatusState} State
 * @typedef {import('../../../../proto/docs/paige').CtlWorker} Worker
 * @typedef {import('../../../../proto/docs/paige').CtlSetting} Setting
 * @typedef {import('../../../../proto/docs/paige').DoctorFinding} Finding
 * @typedef {import('./connection.js').Connection} Connection
 */

const RESTART_MS = 60000;
const DOCTOR_MS = 70000;

const grades = /** @type {Record<string, ['good' | 'warn' | 'bad', string]>} */ ({ fine: ['good', 'Fine'], note: ['warn', 'Note'], wrong: ['bad', 'To fix'] });

/** @param {Connection} connection */
function doctorCard(connection) {
  const said = el('p', { class: 'aside', 'aria-live': 'polite' }, 'Settings, directories, limits, the kernel, the network, the key and gh are looked at when you ask for it; that takes some seconds.');
  const list = el('div', {});
  const start = button('Run the checks', async () => {
    start.disabled = true;
    setText(said, 'The checks are running.');
    try {
      const { payload } = await connection.ask('doctor:request', {}, ['doctor:report'], { ms: DOCTOR_MS });
      const of = (/** @type {string} */ grade) => payload.findings.filter((one) => one.grade === grade);
      const sorted = [...of('wrong'), ...of('note'), ...of('fine')];
      setText(said, `${of('wrong').length === 0 ? 'Nothing is wrong' : `${of('wrong').length} to fix`}, ${count(of('note').length, 'note')}, looked at ${clock(Date.now())}.`);
      fill(list, table('Findings', ['Grade', 'Of', 'What was found'], sorted.map(finding)));
    } catch (error) {
      setText(said, reason(error));
    }
    start.disabled = false;
  });
  return region('Doctor', { class: 'card' }, el('div', { class: 'row' }, start, said), list);
}

/** @param {Finding} one */
function finding({ grade, what, text, advice }) {
  const [kind, word] = grades[grade];
  return el('tr', {}, el('td', {}, badge(kind, word)), el('th', { scope: 'row' }, title(what)), el('td', { class: 'wide' }, text, advice && el('span', { class: 'advice' }, advice)));
}

/** The settings, those that somebody gave or all. */
function settingsCard() {
  /** @type {Setting[]} */
  let settings = [];
  const text = el('input', { id: freshId('setting'), type: 'search', maxlength: '60', oninput: () => draw() });
  const given = el('input', { id: freshId('given'), type: 'checkbox', onchange: () => draw() });
  const said = el('p', { class: 'aside', role: 'note' }, 'The settings are being read.');
  const body = el('tbody');
  const draw = () => {
    const wanted = text.value.trim().toLowerCase();
    const shown = settings.filter((one) => (!given.checked || one.source !== 'default') && `${one.name} ${one.value} ${one.meaning}`.toLowerCase().includes(wanted));
    fill(body, shown.map((one) => el('tr', {}, el('th', { scope: 'row', class: 'setting' }, one.name), el('td', { class: 'value' }, one.value ? el('code', {}, one.value) : el('span', { class: 'aside' }, 'empty')), el('td', {}, badge(one.source === 'default' ? 'plain' : 'info', title(one.source))), el('td', { class: 'wide' }, one.meaning))));
    setText(said, `${shown.length} of ${count(settings.length, 'setting')}`);
  };
  const root = region('Settings', { class: 'card' }, el('div', { class: 'row' }, el('label', { for: text.id }, 'With'), text, given, el('label', { for: given.id }, 'Only those that are set'), said), table('Settings', ['Setting', 'Value', 'From', 'What it is for'], body));
  /** @param {Setting[]} list */
  const set = (list) => {
    settings = list;
    draw();
  };
  return { root, set };
}

/** @param {import('../../../../proto/docs/paige').BusFigures} bus */
function busFacts(bus) {
  return facts([['Calls', bus.calls.toLocaleString()], ['Under way', String(bus.inFlight)], ['Timed out', String(bus.timeouts)], ['Reset', String(bus.resets)], ['Repeated', String(bus.repeats)], ['Events', bus.events.toLocaleString()], ['Gaps in events', String(bus.gaps)], ['Windows', String(bus.windows)]]);
}

/** The table of the workers, with the figures of the last minute. */
class Workers {
  /** @param {(worker: string) => void} restart */
  constructor(restart) {
    this.restart = restart;
    this.body = el('tbody');
    this.root = table('All workers', ['Worker', 'State', '#Up for', '#Restarts', '#Memory', '#Processor', ''], this.body);
    /** @type {Map<string, {cells: HTMLElement[], memory: number[], cpu: number[]}>} */
    this.rows = new Map();
    this.samples = (/** @type {string} */ name) => this.row(name);
  }

  /** @param {string} name */
  row(name) {
    const old = this.rows.get(name);
    if (old) return old;
    const cells = Array.from({ length: 5 }, (_, i) => el('td', { class: i === 0 ? null : 'number' }));
    const made = { cells, memory: /** @type {number[]} */ ([]), cpu: /** @type {number[]} */ ([]) };
    this.rows.set(name, made);
    this.body.append(el('tr', {}, el('th', { scope: 'row' }, el('a', { href: `#/system/${encodeURIComponent(name)}` }, name)), ...cells, el('td', { class: 'number' }, button('Restart', () => this.restart(name), { class: 'small', 'aria-label': `Restart ${name}` }))));
    return made;
  }

  /** @param {Worker} worker */
  draw(worker) {
    const { cells, memory, cpu } = this.row(worker.name);
    memory.push(worker.rss_bytes);
    cpu.push(worker.cpu_percent);
    for (const list of [memory, cpu]) if (list.length > SAMPLES) list.shift();
    fill(cells[0], stateOf(worker), worker.reason ? el('span', { class: 'aside' }, ` ${worker.reason}`) : '');
    setText(cells[1], worker.pid === null ? 'not running' : duration(worker.uptime_ms));
    setText(cells[2], String(worker.restarts.total));
    fill(cells[3], spark(memory), mib(worker.rss_bytes));
    fill(cells[4], spark(cpu), `${worker.cpu_percent.toFixed(1)} %`);
  }
}

/** @param {import('./main.js').App} app @returns {import('./main.js').View} */
export function systemView({ connection }) {
  const fleet = watchFleet();
  const summary = el('p', { class: 'lead' });
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const said = el('p', { class: 'aside', 'aria-live': 'polite' });
  const bus = el('div', {}, el('p', { class: 'empty' }, 'The figures are being read.'));
  const settings = settingsCard();
  const cost = costCard(connection);
  let refused = false;
  let shown = false;
  let worker = '';

  const restart = async (/** @type {string} */ name) => {
    if (!window.confirm(`Restart ${name}? What it is doing is taken up again by the next one.`)) return;
    setText(said, `Restarting ${name}.`);
    try {
      const { payload } = await connection.ask('worker:restart', { worker: name }, ['worker:restarted'], { ms: RESTART_MS });
      setText(said, `${name} was restarted in ${payload.tookMs} ms.`);
    } catch (error) {
      setText(said, `${name}: ${reason(error)}`);
    }
  };
  const workers = new Workers(restart);
  const card = region('Workers', { class: 'card' }, workers.root, el('p', { class: 'aside' }, 'The supervisor starts and watches them: ', el('a', { href: `#/system/${SUPERVISOR}` }, `log of ${SUPERVISOR}`), '.'));
  const all = el('div', {}, el('h1', {}, 'System'), summary, problem, card, doctorCard(connection), cost.root, region('Bus', { class: 'card' }, bus), settings.root, el('p', { class: 'aside' }, 'Counters for a monitoring system: ', el('a', { href: '/metrics' }, '/metrics'), '.'));
  const page = workerPage(connection, restart);
  const root = el('div', { class: 'page system' }, all, page.root);

  connection.on('status:state', ({ payload: { daemon, bus: figures } }) => {
    if (!shown) return;
    setText(summary, `Paige ${daemon.version} is ${daemon.state}, for ${duration(daemon.uptime_ms)}, with ${mib(daemon.rss_bytes)} for the supervisor. The project is ${daemon.project_dir}, data are in ${daemon.data_dir}.`);
    for (const one of daemon.workers) workers.draw(one);
    page.draw(daemon, workers.samples);
    fill(bus, busFacts(figures));
  });
  // Who may not see more sees what /health tells everybody.
  fleet.watch(({ health }) => {
    if (!refused || !health) return;
    setText(summary, `${title(health.status)}, up for ${duration(health.uptime * 1000)}.`);
    for (const [name, state] of Object.entries(health.workers)) fill(workers.row(name).cells[0], badge(state === 'up' ? 'good' : 'bad', title(state)));
  });
  const read = async () => {
    if (!shown || !connection.status.now.up) return;
    connection.tell('status:follow', { follow: true });
    page.begin();
    try {
      await connection.ask('status:request', {}, ['status:state']);
      settings.set((await connection.ask('settings:request', {}, ['settings:state'])).payload.settings);
      problem.hidden = true;
      refused = false;
    } catch (error) {
      refused = true;
      problem.hidden = false;
      setText(problem, reason(error));
    }
    cost.read();
  };
  connection.on('connection:init', read);
  return {
    root,
    show([name]) {
      worker = name ?? '';
      all.hidden = worker !== '';
      if (worker) page.show(worker);
      else page.hide();
      // What became of a restart is told where it was asked for.
      if (!worker) card.append(said);
      else page.place(said);
      if (shown) return;
      shown = true;
      read();
    },
    hide() {
      shown = false;
      page.hide();
      connection.tell('status:follow', { follow: false });
    },
    title: () => (worker ? `${worker}, System` : 'System'),
  };
}
