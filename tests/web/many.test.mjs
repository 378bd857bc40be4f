// many.test.mjs - a project of 100,000 files and a log of 100,000 rows: usable, with only what is seen in the page.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { smallProject } from '../integration/lib/project.mjs';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { Person } from './lib/browser.mjs';
import { manyFiles, PER_DIRECTORY } from './lib/many-files.mjs';
import { world } from './lib/world.mjs';

const FILES = 100000;
const DIRECTORIES = FILES / PER_DIRECTORY;
const ROWS = 100000;
/** Rows that fit into the window, and as many as a list keeps ready above and below. */
const SEEN_MAX = 60;
/** Elements of a whole page, whatever the project has. */
const ELEMENTS_MAX = 1500;

const elements = (page) => page.evaluate(() => document.querySelectorAll('*').length);

scenario('a tree of 100,000 files, every directory of it open: only the rows that are seen are in the page', async (t) => {
  const projectDir = t.keep(smallProject());
  manyFiles(projectDir, FILES);
  fs.writeFileSync(path.join(projectDir, 'many/d099/f099999.txt'), 'the last one\n');
  const { daemon, browser } = await world(t, { projectDir });
  const person = await Person.at(browser, daemon);
  const { page } = person;
  await person.connected();
  const tree = page.getByRole('tree', { name: 'Files' });
  await tree.getByRole('treeitem').first().waitFor({ timeout: 120000 });
  await page.evaluate(() => (location.hash = '#/work/many/d099/f099999.txt'));
  await until('the last file in the editor', async () => (await person.text()) === 'the last one\n', { ms: 60000 });
  await tree.focus();
  await tree.getByRole('treeitem', { selected: true }).filter({ hasText: 'f099999.txt' }).waitFor();
  // From the last directory upwards, since what is above a row stays where it is.
  await page.keyboard.press('ArrowLeft');
  for (let i = 1; i < DIRECTORIES; i += 1) {
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
  }
  await tree.getByRole('treeitem', { selected: true, expanded: true }).filter({ hasText: 'd000' }).waitFor();
  const all = await tree.evaluate((node) => node.querySelector('.tree-space').offsetHeight / node.querySelector('[role=treeitem]').offsetHeight);
  assert.ok(all > FILES, `${all} rows can be scrolled to`);
  const shown = await tree.getByRole('treeitem').count();
  assert.ok(shown > 5 && shown < SEEN_MAX, `${shown} rows of the tree are in the page`);
  const whole = await elements(page);
  assert.ok(whole < ELEMENTS_MAX, `${whole} elements are in the page`);
  await page.keyboard.press('End');
  await tree.getByRole('treeitem', { selected: true }).filter({ hasText: /README\.md/ }).waitFor();
  await page.keyboard.press('PageUp');
  assert.ok((await tree.getByRole('treeitem').count()) < SEEN_MAX);
  await person.picture('work-many-files');
  await person.close();
});

scenario('a log of 100,000 rows: scrolled to its end, only the rows that are seen are in the page', async (t) => {
  const { daemon, browser } = await world(t);
  const editor = await t.editor(daemon);
  editor.send('session:start', {});
  const { payload } = await editor.next('session:started');
  await daemon.sql(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO action_log SELECT 'id' || i, '${payload.sessionId}', 'selection', '{"path":"src/' || i || '.ts","textLength":1}', '2026-01-01T00:00:00.000Z' FROM n`);
  const person = await Person.at(browser, daemon, { hash: '#/activity' });
  const { page } = person;
  const table = page.getByRole('table', { name: 'Actions' });
  await table.getByText(`src/${ROWS}.ts, characters: 1`).waitFor();
  let rows = 0;
  let most = 0;
  await until('20,000 rows read', async () => {
    await table.evaluate((node) => (node.scrollTop = node.scrollHeight));
    most = Math.max(most, await table.locator('.log-row').count());
    rows = await table.evaluate((node) => node.querySelector('.log-space').offsetHeight / 30);
    return rows >= 20000;
  }, { ms: 120000 });
  assert.ok(most > 5 && most < SEEN_MAX, `${most} rows are in the page`);
  assert.ok((await elements(page)) < ELEMENTS_MAX);
  await page.getByLabel('with').fill('src/77777.ts');
  await until('the one row far back', async () => (await table.locator('.log-row').count()) === 1 && (await table.getByText('src/77777.ts').count()) === 1, { ms: 60000 });
  await person.close();
});
