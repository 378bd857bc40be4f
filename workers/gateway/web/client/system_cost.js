// system_cost.js - what calls to Claude cost: by day as a chart, by day, model and kind as tables, against the budgets.
import { bars, ChartBox } from './charts.js';
import { button, el, fill, region } from './dom.js';
import { count, title } from './format.js';
import { facts, number, reason, table } from './parts.js';

/**
 * @typedef {import('../../../../proto/docs/paige').CostGroup} Group
 * @typedef {import('../../../../proto/docs/paige').CostTotals} Totals
 */

const DAYS = 30;
const DAY_MS = 86400000;

/** @param {number} n US dollars */
export function money(n) {
  return `$${n.toFixed(n !== 0 && n < 0.1 ? 4 : 2)}`;
}

/** @param {number | null} ms as `paigectl cost` has it */
function latency(ms) {
  if (ms === null) return 'none';
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/**
 * @param {number} spent
 * @param {number | null} budget
 */
function against(spent, budget) {
  if (budget === null) return `${money(spent)}, without a budget`;
  return el('span', {}, `${money(spent)} of ${money(budget)} `, el('meter', { min: 0, max: budget || 1, high: budget * 0.8, value: Math.min(spent, budget), 'aria-label': `${money(spent)} of ${money(budget)} spent` }));
}

/** @param {string} name @param {Group[]} groups */
function groupTable(name, groups) {
  const heads = [title(name), '#Calls', '#Failed', '#Cancelled', '#Tokens in', '#Tokens out', '#Latency', '#Cost'];
  return [
    el('h3', {}, `By ${name}`),
    table(`Cost by ${name}`, heads, groups.map((group) => el('tr', {}, el('th', { scope: 'row' }, name === 'kind' ? title(group.key) : group.key), ...[group.calls, group.failures, group.cancelled, group.inputTokens, group.outputTokens].map((n) => number(n.toLocaleString())), number(latency(group.averageLatencyMs)), number(money(group.cost))))),
  ];
}

/**
 * Each day, also those without a call.
 * @param {Totals} totals
 */
function everyDay({ since, days }) {
  const costs = new Map(days.map((day) => [day.key, day.cost]));
  const first = Date.parse(since);
  const labels = [];
  for (let at = first; at <= Date.now() && labels.length < DAYS + 1; at += DAY_MS) labels.push(new Date(at).toISOString().slice(0, 10));
  return { labels: labels.map((label) => label.slice(5)), values: labels.map((label) => costs.get(label) ?? 0) };
}

/** @param {import('./connection.js').Connection} connection */
export function costCard(connection) {
  const figures = el('div', {}, el('p', { class: 'empty' }, 'The figures are being read.'));
  const tables = el('div', {});
  const chart = new ChartBox(`Cost by day as bars; the table "Cost by day" says the same`, 'bars');
  const root = region('Calls to Claude', { class: 'card' }, figures, chart.root, tables, el('p', { class: 'aside' }, 'Days begin at midnight UTC. On the command line: ', el('code', {}, 'paigectl cost'), '. ', button('Read again', () => read(), { class: 'small' })));
  const read = async () => {
    try {
      const { payload } = await connection.ask('cost:request', { days: DAYS }, ['cost:totals']);
      const { total, days, models, kinds, budget } = payload;
      fill(figures, facts([['Today', against(budget.spentDay, budget.day)], ['This session', against(budget.spentSession, budget.session)], [`Last ${DAYS} days`, `${money(total.cost)}, ${count(total.calls, 'call')}, ${total.failures} failed`], ['Mean latency', latency(total.averageLatencyMs)]]));
      fill(tables, total.calls > 0 ? [...groupTable('day', [...days].reverse()), ...groupTable('model', models), ...groupTable('kind', kinds)] : []);
      chart.draw(total.cost > 0 ? bars({ ...everyDay(payload), name: 'Cost', limit: budget.day, unit: money }) : null);
    } catch (error) {
      fill(figures, el('p', { class: 'empty' }, reason(error)));
    }
  };
  return { root, read };
}
