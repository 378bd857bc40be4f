// kata.test.mjs - katas in the Progress view: the task, constraints, a solution that nothing takes away, and its review.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { Person } from './lib/browser.mjs';
import { world } from './lib/world.mjs';

/** What a lost connection says in the console is what this is about. */
const allow = (text) => /WebSocket|\/health|status 50[0-9]|ERR_/.test(text);

const CONSTRAINTS = [{ title: 'No plus', description: 'Without the operator +.', minLevel: 1 }, { title: 'One line', description: 'A single expression.', minLevel: 3 }];
const BEGINNING = 'const greet = (name) => {\n};\n';

/** Puts katas where those of a wrap-up stand. */
async function katas(t, daemon, ids) {
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  const { payload } = await editor.next('session:started');
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${payload.sessionId}', 'Templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z')`);
  for (const id of ids) await daemon.sql(`INSERT INTO kata_specs VALUES ('${id}', 'g', 'Kata ${id}', 'The *task* of ${id}.', '${BEGINNING}', 'The secret is a backtick.', '${JSON.stringify(CONSTRAINTS)}', '[]')`);
  return editor;
}

const kataOf = (page, name) => page.locator('.kata').filter({ hasText: name });
const open = (kata) => kata.locator('summary').click();

scenario('a kata is opened and read, solved under a constraint, handed in and reviewed', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  await mcp.ok('paige_end_session', { sessionTranscript: 'learner: why a backtick? coach: it is a template.' });
  const [{ instructor_notes: notes }] = await daemon.sql('SELECT instructor_notes FROM kata_specs');
  assert.ok(notes.length > 10, 'there is something to be kept from the learner');
  const person = await Person.at(browser, daemon, { hash: '#/progress' });
  const { page } = person;
  const kata = kataOf(page, 'Predict, then run');
  assert.match(await kata.locator('summary').textContent(), /\(not tried yet, 3 constraints\)$/);
  await open(kata);
  await kata.locator('.kata-task strong', { hasText: 'before' }).waitFor();
  assert.equal(await kata.locator('.kata-task li').count(), 3, 'the steps of the task, as Markdown');
  const box = kata.getByLabel('Your solution');
  assert.match(await box.inputValue(), /^function total\(/, 'what to begin with');
  const why = kata.getByRole('switch', { name: 'Say why' });
  const edge = kata.getByRole('switch', { name: 'Find an edge' });
  const memory = kata.getByRole('switch', { name: 'From memory' });
  assert.deepEqual([await why.isEnabled(), await edge.isEnabled(), await memory.isEnabled()], [true, false, false]);
  await kata.getByText('Locked until level 3').waitFor();
  await kata.getByText('Your level in this kata is 1.').waitFor();
  await kata.scrollIntoViewIfNeeded();
  await person.looks('kata');

  await why.check();
  await box.press('Control+End');
  await box.pressSequentially('// 5: the sum');
  const solution = await box.inputValue();
  assert.match(solution, /^function total\([^]*\/\/ 5: the sum$/);
  await kata.getByRole('button', { name: 'Hand in' }).click();
  await kata.getByText('Passed, level 4').waitFor();
  await kata.getByText('1 constraint unlocked: Find an edge').waitFor();
  const [attempt] = JSON.parse((await daemon.sql('SELECT user_attempts AS a FROM kata_specs'))[0].a);
  assert.deepEqual([attempt.code, attempt.constraints], [solution, ['Say why']]);
  assert.deepEqual([await why.isChecked(), await edge.isEnabled(), await memory.isEnabled()], [true, true, false]);
  assert.match(await kata.locator('summary').textContent(), /\(1 attempt, best level 4, 3 constraints\)$/);
  assert.equal(await box.inputValue(), solution, 'the solution stays');
  await kata.getByText('Passed, level 4').scrollIntoViewIfNeeded();
  await person.looks('kata-reviewed');
  assert.ok(!(await page.content()).includes(notes), 'the notes are for the reviewer');
  await person.close();
});

scenario('a solution outlives the view, a reload and the daemon, and nothing is put over it', async (t) => {
  const { daemon, browser } = await world(t);
  daemon.extraEnv.PORT = String(daemon.port);
  await katas(t, daemon, ['one', 'two']);
  const person = await Person.at(browser, daemon, { hash: '#/progress', allow });
  const { page } = person;
  const one = kataOf(page, 'Kata one');
  const two = kataOf(page, 'Kata two');
  const box = one.getByLabel('Your solution');
  const show = (view) => page.evaluate((name) => (location.hash = `#/${name}`), view);
  await open(one);
  await one.locator('.kata-task em').waitFor();
  assert.equal(await box.inputValue(), BEGINNING);
  await box.fill('my own');
  // Also for a page that nobody leaves, but that is ended.
  await until('it is in the browser\'s store', async () => (await page.evaluate(() => sessionStorage.getItem('paige.solutions')))?.includes('my own'));
  await one.getByRole('switch', { name: 'No plus' }).check();
  await show('activity');
  await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
  await show('progress');
  assert.equal(await box.inputValue(), 'my own');

  const kept = async (what) => {
    assert.equal(await box.inputValue(), 'my own', what);
    assert.equal(await one.getByRole('switch', { name: 'No plus' }).isChecked(), true, what);
  };
  await page.reload();
  await open(one);
  await one.locator('.kata-task em').waitFor();
  await kept('after a reload');

  await daemon.die();
  await page.getByRole('status').filter({ hasText: /^Not connected/ }).waitFor({ timeout: 60000 });
  await open(two);
  await two.getByText('There is no connection to Paige. The task comes when it is back.').waitFor();
  assert.equal(await two.getByRole('button', { name: 'Hand in' }).isVisible(), false);
  await person.looks('kata-away');
  await daemon.start();
  await two.locator('.kata-task em').waitFor();
  assert.equal(await two.getByRole('button', { name: 'Hand in' }).isEnabled(), true);
  assert.equal(await two.getByLabel('Your solution').inputValue(), BEGINNING);
  assert.equal(await two.getByText('There is no connection').isVisible(), false);
  await kept('after the daemon came back');

  // Whoever wants the box empty has it empty, also when the task comes again.
  await two.getByLabel('Your solution').fill('');
  await daemon.die();
  await page.getByRole('status').filter({ hasText: /^Not connected/ }).waitFor({ timeout: 60000 });
  await daemon.sql("UPDATE kata_specs SET description = 'Another *task*.', scaffolding_code = 'other'");
  await daemon.start();
  await two.locator('.kata-task').filter({ hasText: 'Another task.' }).waitFor();
  assert.equal(await two.getByLabel('Your solution').inputValue(), '');
  await one.locator('.kata-task').filter({ hasText: 'Another task.' }).waitFor();
  await kept('when what to begin with has changed');
  await person.close();
});

scenario('a kata that is gone says so, and what was typed for it stays', async (t) => {
  const { daemon, browser } = await world(t);
  const editor = await katas(t, daemon, ['one', 'two']);
  const person = await Person.at(browser, daemon, { hash: '#/progress' });
  const { page } = person;
  const one = kataOf(page, 'Kata one');
  const two = kataOf(page, 'Kata two');
  await open(one);
  await one.locator('.kata-task em').waitFor();
  await one.getByLabel('Your solution').fill('my own');
  await one.getByLabel('Your solution').focus();
  editor.send('dashboard:request', { statsPeriod: '7d' });
  await editor.next('dashboard:state');
  await page.getByText('Kata two').waitFor();
  assert.equal(await one.getByLabel('Your solution').evaluate((node) => node === document.activeElement), true, 'whoever types goes on when another window asks');
  await page.reload();
  await two.waitFor();
  await daemon.sql('DELETE FROM kata_specs');
  await open(one);
  await one.getByText('This kata is not there any more. What is in the box stays there until the page is left.').waitFor();
  assert.equal(await one.getByLabel('Your solution').inputValue(), 'my own');
  await open(two);
  await two.getByText('This kata is not there any more.').waitFor();
  assert.equal(await two.getByRole('button', { name: 'Hand in' }).isVisible(), false);
  await person.looks('kata-gone');
  editor.send('dashboard:request', { statsPeriod: '7d' });
  await until('the one without a solution is no longer shown', async () => (await two.count()) === 0);
  await one.getByText('This kata is not there any more. What is in the box stays there until the page is left.').waitFor();
  assert.equal(await one.getByLabel('Your solution').inputValue(), 'my own');
  assert.equal(await one.getByRole('button', { name: 'Hand in' }).isDisabled(), true);
  await person.close();
});

scenario('a task that cannot be read says why, and is asked for again', async (t) => {
  const { daemon, browser } = await world(t);
  await katas(t, daemon, ['one']);
  const person = await Person.at(browser, daemon, { hash: '#/progress' });
  const one = kataOf(person.page, 'Kata one');
  await one.waitFor();
  await daemon.ctl('stop', 'store');
  await open(one);
  const again = one.getByRole('button', { name: 'Ask again' });
  await again.waitFor();
  assert.match(await one.getByRole('status').textContent(), /store/, 'what is missing');
  await daemon.ctl('start', 'store');
  await again.click();
  await one.locator('.kata-task em').waitFor();
  assert.equal(await again.isVisible(), false);
  await person.close();
});
