// mirror.mjs - a PostgreSQL for the mirror, and what has come there compared with what is here.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { PAIGED } from './daemon.mjs';
import { WITHOUT_POSTGRES, Postgres } from './postgres.mjs';
import { until } from './wait.mjs';

export const MIRROR = path.join(path.dirname(PAIGED), '..', 'workers', 'mirror', 'paige-mirror');
/** Why the mirror cannot be tested, or false. */
export const WITHOUT_MIRROR = WITHOUT_POSTGRES || (!fs.existsSync(MIRROR) && 'built without the mirror (libpq)');

/** A server with the schema and a role for each learner. */
export async function server(t, learners = ['ada']) {
  const postgres = t.closeLater(await Postgres.make(t.directory('pg')));
  await postgres.prepare(MIRROR, learners);
  return postgres;
}

const LOCAL = {
  actions: "SELECT rowid AS number, id FROM action_log",
  api_calls: 'SELECT rowid AS number, id FROM api_call_log',
  sessions: 'SELECT rowid AS number, id FROM sessions',
  phases: 'SELECT rowid AS number, id FROM phases',
};

/** Number and id of every row, there and here, as text. */
export const there = async (postgres, table) => (await postgres.sql(`SELECT number, id FROM paige.${table} ORDER BY number`)).map((row) => row.join(' ')).join('\n');
export async function here(daemon, table) {
  const rows = table === 'guard_events'
    ? await daemon.sql('SELECT n.number, lower(hex(chain)) AS id FROM row_numbers AS n JOIN rows ON rows.stream = n.stream AND rows.seq = n.seq ORDER BY 1', 'guard.db')
    : await daemon.sql(`${LOCAL[table]} ORDER BY 1`);
  return rows.map(({ number, id }) => `${number} ${id}`).join('\n');
}

/** Waits until the rows of a table are there, and are those that are here. */
export async function arrived(daemon, postgres, tables = ['actions', 'api_calls', 'guard_events', 'sessions', 'phases'], ms = 60000) {
  for (const table of tables) {
    const count = (await here(daemon, table)).split('\n').filter(Boolean).length;
    await until(`${count} rows of ${table}`, async () => Number((await postgres.sql(`SELECT count(*) FROM paige.${table}`))[0][0]) >= count, { ms, every: 100 });
    // A row that is logged between two looks comes a moment later.
    let far, near;
    await until(`the rows of ${table} as they are here`, async () => {
      near = await here(daemon, table);
      far = await there(postgres, table);
      return far === near;
    }, { ms, every: 200 }).catch(() => assert.equal(far, near, table));
  }
}

/** Rows of the action log, with the numbers `from` to `to` in their ids. */
export const fill = (daemon, from, to, data = '{"fromPath":"secret.c","toPath":"secret.c"}') => daemon.sql(
  `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) INSERT INTO action_log (id, session_id, action_type, data, created_at) ` +
  `SELECT 'row-' || i, (SELECT id FROM sessions ORDER BY rowid LIMIT 1), 'tab_switch', '${data}', strftime('%Y-%m-%dT%H:%M:%fZ', '2026-11-20', '+' || i || ' seconds') FROM n; SELECT 1 AS x`);
