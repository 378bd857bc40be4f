// views.test.mjs - the views beside Work: activity, guards, system.
import assert from 'node:assert/strict';
import { Guard } from '../integration/lib/guard.mjs';
import { sideBySide as scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { launch, Person } from './lib/browser.mjs';

async function eachLook(person, name) {
  for (const scheme of ['light', 'dark'])
    for (const width of [1280, 800]) {
      await person.page.emulateMedia({ colorScheme: scheme });
      await person.page.setViewportSize({ width, height: 800 });
      await person.accessible(`${name}, ${scheme}, ${width}`);
      await person.picture(`${name}-${scheme}-${width}`);
    }
  await person.page.setViewportSize({ width: 1280, height: 800 });
}

scenario('activity: the log is live, filtered by type and text, and older pages come when one scrolls', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 3 });
  const { payload } = await editor.next('session:started');
  for (let i = 0; i < 600; i += 1) editor.send('editor:tab_switch', { toPath: `<i>tab</i> number ${i}.ts` });
  await daemon.logged('tab_switch', 600);
  assert.ok(payload.sessionId);
  const person = await Person.at(browser, daemon, { hash: '#/activity' });
  const { page } = person;
  const table = page.getByRole('table', { name: 'Actions' });
  await table.getByText('number 599.ts').waitFor();
  editor.send('editor:tab_switch', { toPath: 'just-now.ts' });
  await table.getByText('just-now.ts').waitFor();
  const inPage = () => table.locator('.log-row').count();
  assert.ok((await inPage()) < 60, 'only what is seen is in the page');
  await until('the first row of all', async () => {
    await table.evaluate((node) => (node.scrollTop = node.scrollHeight));
    return (await table.getByText('Session started').count()) > 0;
  });
  assert.ok((await inPage()) < 60);
  await page.getByLabel('with').fill('number 17.ts');
  await until('one row', async () => (await inPage()) === 1);
  await page.getByLabel('with').fill('');
  await page.getByLabel('Show').selectOption('session_started');
  await until('one row of that type', async () => (await inPage()) === 1);
  await page.getByLabel('Show').selectOption('');
  await table.getByText('just-now.ts').waitFor();
  await eachLook(person, 'activity');
  await person.close();
});

scenario('guards: each kind is there, counts down while it is driven over HTTP, and its events can be gone through', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const guard = await Guard.create(daemon, 'session-guard', 'one', { timeboxMs: 3600000, codingQuestion: 'Write a cache.' });
  const breakloop = await Guard.create(daemon, 'breakloop', 'phone', { monitored: ['instagram'], nQuickTask: 2, windowHours: 24, quickTaskMs: 60000, timezone: 'UTC' });
  const interview = await Guard.create(daemon, 'interview', 'talk', {});
  await Guard.create(daemon, 'idle', 'agent', {});
  const person = await Person.at(browser, daemon, { hash: '#/guards/session-guard/one' });
  const { page } = person;
  const left = page.locator('.facts-list .number').first();
  await page.getByText('zeroRuns').waitFor();
  assert.equal(await left.textContent(), '1:00:00');
  await guard.event({ type: 'question_asked', text: 'Tell me about a project.' });
  await until('the countdown runs', async () => /^59:5\d$/.test(await left.textContent()));
  const now = await left.textContent();
  await until('it goes on', async () => (await left.textContent()) !== now);
  const slider = page.getByRole('slider', { name: 'Event' });
  await until('the event in the scrubber', async () => Number(await slider.getAttribute('max')) >= 2);
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText(/^Event 1 of/).waitFor();
  await page.getByRole('button', { name: 'Check the stream' }).click();
  await page.getByText('every one came out as it is stored').waitFor();
  await eachLook(person, 'guards-session');

  const list = page.getByRole('region', { name: 'Guards' });
  await list.getByRole('link', { name: 'phone' }).click();
  await page.getByText('2 of 2').waitFor();
  await breakloop.event({ type: 'app_entered', app: 'instagram' });
  await page.locator('.facts-list').getByText('instagram').waitFor();
  await person.accessible('breakloop');
  await list.getByRole('link', { name: 'talk' }).click();
  await page.getByText('Not started').waitFor();
  await interview.event({ type: 'start' });
  await page.locator('.facts-list').getByText('In progress').waitFor();
  await eachLook(person, 'guards-interview');
  await list.getByRole('link', { name: 'agent' }).click();
  await page.getByText('Verdict').waitFor();
  await person.accessible('idle');
  await person.close();
});

scenario('progress: skills as radar and table, and a kata that is handed in and reviewed', async (t) => {
  const claude = await t.claude();
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: claude.url, LLM_RETRY_BASE_MS: '200' } });
  const editor = await t.editor(daemon);
  const mcp = await t.mcp(daemon);
  for (const _ of [1, 2]) {
    editor.send('session:start', { issueNumber: 7 });
    await editor.next('session:started');
    await mcp.ok('paige_end_session', { sessionTranscript: 'learner: why a backtick? coach: it is a template.' });
  }
  const skills = await daemon.sql('SELECT DISTINCT skill_area AS s FROM dreyfus_assessments');
  assert.ok(skills.length > 0);
  // A radar needs three skills, and the scripted Claude assesses fewer.
  const columns = (await daemon.sql("SELECT name FROM pragma_table_info('dreyfus_assessments')")).map(({ name }) => name);
  const copied = columns.map((name) => (name === 'id' ? "hex(randomblob(16))" : name === 'skill_area' ? 'column1' : name === 'stage' ? 'column2' : name));
  await daemon.sql(`INSERT INTO dreyfus_assessments (${columns}) SELECT ${copied} FROM (SELECT * FROM dreyfus_assessments LIMIT 1), (VALUES ('Testing', 'novice'), ('Reading <b>errors</b>', 'competent'), ('Async code in a service', 'proficient'))`);
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/progress' });
  const { page } = person;
  const region = page.getByRole('region', { name: 'Skills' });
  await region.getByRole('rowheader', { name: skills[0].s }).waitFor();
  await region.getByRole('rowheader', { name: 'Reading <b>errors</b>' }).waitFor();
  const painted = () => region.locator('canvas').evaluate((canvas) => canvas.width > 100 && new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer).some((pixel) => pixel !== 0));
  await until('the radar is painted', painted);
  const kata = page.locator('.kata').first();
  await kata.locator('summary').click();
  await kata.getByLabel('Your solution').fill('export const greet = () => "Hello";');
  await kata.getByRole('button', { name: 'Hand in' }).click();
  await kata.getByText(/(Passed|Not yet), level \d/).waitFor();
  assert.equal(JSON.parse((await daemon.sql('SELECT user_attempts AS a FROM kata_specs'))[0].a).length, 1);
  await eachLook(person, 'progress');
  await person.close();
});

scenario('system: the workers and their states', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon);
  await person.connected();
  await person.page.getByRole('link', { name: 'System' }).click();
  const workers = person.page.getByRole('region', { name: 'Workers' });
  for (const name of ['gateway', 'store', 'fswatch', 'llm', 'observer', 'guard-engine']) await workers.getByRole('row').filter({ hasText: name }).getByText('Up').waitFor();
  await person.page.getByRole('region', { name: 'Settings' }).getByRole('rowheader', { name: 'PROJECT_DIR' }).waitFor();
  await person.page.getByRole('region', { name: 'Calls to Claude' }).getByText('$0.00, without a budget').first().waitFor();
  await person.page.getByRole('status').filter({ hasText: '$0.00 today' }).waitFor();
  await eachLook(person, 'system');
  const old = daemon.worker('observer');
  person.page.on('dialog', (dialog) => dialog.accept());
  await person.page.getByRole('button', { name: 'Restart observer' }).click();
  await workers.getByText(/observer was restarted in \d+ ms/).waitFor();
  assert.notEqual(daemon.worker('observer').pid, old.pid);
  await person.close();
});
