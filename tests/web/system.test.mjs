// system.test.mjs - the view System: the workers, each with a page of its own, doctor, settings, and what Claude cost.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { sideBySide as scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { WORKERS } from '../integration/lib/workers.mjs';
import { launch, Person } from './lib/browser.mjs';

scenario('system: the workers and their states', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon);
  await person.connected();
  await person.page.getByRole('link', { name: 'System' }).click();
  const workers = person.page.getByRole('region', { name: 'Workers' });
  for (const name of WORKERS) await workers.getByRole('row').filter({ hasText: name }).getByText('Up').waitFor();
  await person.page.getByRole('region', { name: 'Settings' }).getByRole('rowheader', { name: 'PROJECT_DIR' }).waitFor();
  await person.page.getByRole('region', { name: 'Calls to Claude' }).getByText('$0.00, without a budget').first().waitFor();
  await person.page.getByRole('status').filter({ hasText: '$0.00 today' }).waitFor();
  await person.looks('system');
  await person.page.getByRole('button', { name: 'Run the checks' }).click();
  const found = person.page.getByRole('region', { name: 'Doctor' });
  await found.getByRole('row').filter({ hasText: `:${daemon.port} answers: ready` }).getByText('Fine').waitFor();
  await person.page.getByLabel('Only those that are set').check();
  await until('defaults are gone', async () => (await person.page.getByRole('region', { name: 'Settings' }).getByText('Default', { exact: true }).count()) === 0);
  await person.looks('system-findings');
  await person.close();
});

scenario('system: a worker is restarted when it is confirmed, and not when it is not; the view says so', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/system' });
  const { page } = person;
  const workers = page.getByRole('region', { name: 'Workers' });
  await workers.getByRole('row').filter({ hasText: 'observer' }).getByText('Up').waitFor();
  const running = () => Object.fromEntries(WORKERS.map((name) => [name, daemon.worker(name).pid]));
  /** @type {string[]} what was asked */
  const asked = [];
  let confirm = false;
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    return confirm ? dialog.accept() : dialog.dismiss();
  });
  const before = running();
  await page.getByRole('button', { name: 'Restart observer' }).click();
  assert.match(asked[0], /^Restart observer\?/);
  confirm = true;
  await page.getByRole('button', { name: 'Restart observer' }).click();
  await workers.getByText(/^observer was restarted in \d+ ms\.$/).waitFor();
  assert.equal(asked.length, 2);
  const after = running();
  assert.deepEqual(WORKERS.filter((name) => after[name] !== before[name]), ['observer']);
  await workers.getByRole('row').filter({ hasText: 'observer' }).getByText('Up').waitFor();

  // The page of the worker has a button as well, and shows the new process.
  await workers.getByRole('link', { name: 'observer' }).click();
  await person.fact('Process').filter({ hasText: new RegExp(`^${after.observer}$`) }).waitFor();
  await person.fact('Restarts').filter({ hasText: /^1,/ }).waitFor();
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByRole('region', { name: 'State' }).getByText(/^observer was restarted in \d+ ms\.$/).waitFor();
  const { pid } = daemon.worker('observer');
  assert.notEqual(pid, after.observer);
  await person.fact('Process').filter({ hasText: new RegExp(`^${pid}$`) }).waitFor();
  await person.accessible('a worker that was restarted');
  await person.close();
});

scenario('system: what Claude cost, as bars and in tables, against the budget', async (t) => {
  const daemon = await t.daemon({ env: { BUDGET_DAY_USD: '5' } });
  const day = (ago) => new Date(Date.now() - ago * 86400000).toISOString().slice(0, 10);
  const rows = Array.from({ length: 20 }, (_, i) => `('${i}', NULL, '${i % 3 ? 'explain_this' : 'coach_agent'}', '${i % 2 ? 'claude-<b>big</b>' : 'claude-small'}', 'h', ${800 + i}, 1000, 200, ${(i % 7) / 3}, '${day(i)}T00:00:01.000Z')`);
  await daemon.sql(`INSERT INTO api_call_log VALUES ${rows}`);
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/system' });
  const region = person.page.getByRole('region', { name: 'Calls to Claude' });
  await region.getByText('$0.00 of $5.00').first().waitFor();
  await region.getByRole('rowheader', { name: day(3) }).waitFor();
  await region.getByRole('rowheader', { name: 'claude-<b>big</b>' }).waitFor();
  await region.getByRole('rowheader', { name: 'Coach agent' }).waitFor();
  const painted = () => region.locator('canvas').evaluate((canvas) => canvas.width > 100 && new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer).some((pixel) => pixel !== 0));
  await until('the bars are painted', painted);
  await region.scrollIntoViewIfNeeded();
  await person.looks('system-cost');
  await person.close();
});

scenario('system: one worker, its log live and by level, and older lines', async (t) => {
  const daemon = await t.daemon();
  const file = path.join(daemon.dataDir, 'logs', 'store.log');
  const line = (level, n) => `ts=2026-01-01T00:00:00.000Z level=${level} worker=store msg="line ${n}" path=<b>x</b>`;
  fs.appendFileSync(file, `${Array.from({ length: 1000 }, (_, i) => line(i === 100 ? 'error' : 'info', i)).join('\n')}\n`);
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/system' });
  const { page } = person;
  await page.getByRole('region', { name: 'Workers' }).getByRole('link', { name: 'store' }).click();
  assert.match(page.url(), /#\/system\/store$/);
  await page.getByRole('heading', { name: 'store' }).waitFor();
  const lines = page.getByRole('group', { name: 'Lines of the log' });
  await lines.getByText('line 999').waitFor();
  assert.equal(await lines.getByText('line 700').count(), 0);
  await page.getByRole('button', { name: 'Older lines' }).click();
  await lines.getByText('line 700').waitFor();
  fs.appendFileSync(file, `${line('warn', 'just now')}\n`);
  await lines.getByText('line just now').waitFor();
  assert.equal(await lines.getByText('line 999').count(), 1, 'no line comes twice');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused').waitFor();
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('region', { name: 'Log' }).getByLabel('Show').selectOption('error');
  await lines.getByText('line 100').waitFor();
  assert.equal(await lines.getByText('line just now').count(), 0);
  await page.getByRole('region', { name: 'Log' }).getByLabel('Show').selectOption('');
  await lines.getByText('line just now').waitFor();
  await person.fact('Process').filter({ hasText: String(daemon.worker('store').pid) }).waitFor();
  await person.looks('system-worker');
  await page.goto(`${daemon.url}/#/system`);
  await page.getByRole('region', { name: 'Workers' }).getByRole('link', { name: 'log of paiged' }).click();
  await page.getByRole('heading', { name: 'paiged' }).waitFor();
  await lines.getByText(/^ready/).waitFor();
  await person.fact('Process').filter({ hasText: String(daemon.pid) }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Restart' }).isVisible(), false);
  await person.accessible('the supervisor');
  await page.goto(`${daemon.url}/#/system/nobody`);
  await page.getByText('There is no worker nobody.').waitFor();
  await person.close();
});
