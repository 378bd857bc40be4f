// kata.test.mjs - katas in the Progress view: the task, constraints, a solution that nothing takes away, its review, also one that a
// reload came into, and the attempts so far.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { launch, Person } from './lib/browser.mjs';
import { Wire } from './lib/wire.mjs';
import { world } from './lib/world.mjs';

/** What a lost connection says in the console is what this is about. */
const allow = (text) => /WebSocket|\/health|status 50[0-9]|ERR_/.test(text);

const CONSTRAINTS = [{ title: 'No plus', description: 'Without the operator +.', minLevel: 1 }, { title: 'One line', description: 'A single expression.', minLevel: 3 }];
const BEGINNING = 'const greet = (name) => {\n};\n';

/** Puts katas where those of a wrap-up stand, each with these attempts. */
async function katas(t, daemon, ids, attempts = []) {
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  const { payload } = await editor.next('session:started');
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${payload.sessionId}', 'Templates', 'high', 'x', '[]', '2026-01-01T00:00:00.000Z')`);
  for (const id of ids) await daemon.sql(`INSERT INTO kata_specs VALUES ('${id}', 'g', 'Kata ${id}', 'The *task* of ${id}.', '${BEGINNING}', 'The secret is a backtick.', '${JSON.stringify(CONSTRAINTS)}', '${JSON.stringify(attempts)}')`);
  return editor;
}

const kataOf = (page, name) => page.locator('.kata').filter({ hasText: name });
const open = (kata) => kata.locator('> summary').click();

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
  assert.match(await kata.locator('> summary').textContent(), /\(not tried yet, 3 constraints\)$/);
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
  await kata.getByText('Passed, level 4', { exact: true }).waitFor();
  await kata.getByText('1 constraint unlocked: Find an edge').waitFor();
  const [attempt] = JSON.parse((await daemon.sql('SELECT user_attempts AS a FROM kata_specs'))[0].a);
  assert.deepEqual([attempt.code, attempt.constraints], [solution, ['Say why']]);
  assert.deepEqual([await why.isChecked(), await edge.isEnabled(), await memory.isEnabled()], [true, true, false]);
  assert.match(await kata.locator('> summary').textContent(), /\(1 attempt, best level 4, 3 constraints\)$/);
  assert.equal(await box.inputValue(), solution, 'the solution stays');
  await kata.getByText('Passed, level 4', { exact: true }).scrollIntoViewIfNeeded();
  await person.looks('kata-reviewed');
  await kata.getByText('Your attempts (1)').click();
  await kata.getByText('Attempt 1, passed, level 4').click();
  assert.equal(await kata.getByRole('group', { name: 'What was handed in as attempt 1' }).textContent(), solution);
  await kata.locator('.attempt').getByText('Under: Say why').waitFor();
  await kata.getByText('Your attempts (1)').scrollIntoViewIfNeeded();
  await person.looks('kata-attempt');
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

scenario('attempts so far are listed, the last first, and each opens to what was handed in and its review', async (t) => {
  const { daemon, browser } = await world(t);
  const attempts = Array.from({ length: 23 }, (_, i) => ({ code: `const attempt = ${i + 1};\n\treturn attempt;`, review: `It was **number ${i + 1}**.`, level: 1 + (i % 4), passed: i % 2 === 1, constraints: i % 3 ? [] : ['No plus', 'One line'] }));
  attempts[20] = { code: `${'const long = 1;\n'.repeat(1100)}the end`, review: `${'Long words. '.repeat(800)}the end`, level: 2, passed: false, constraints: [] };
  attempts[21] = { code: 'of old', constraints: [] };
  await katas(t, daemon, ['one'], attempts);
  const person = await Person.at(browser, daemon, { hash: '#/progress' });
  const one = kataOf(person.page, 'Kata one');
  await open(one);
  const list = one.getByText('Your attempts (23)');
  await list.waitFor();
  assert.equal(await one.getByText('Attempt 23,').isVisible(), false, 'closed at first');
  await list.click();
  await one.getByText('The last 20 are shown.').waitFor();
  const names = await one.locator('.attempts-list summary').allTextContents();
  assert.deepEqual([names.length, ...names.slice(0, 4), names.at(-1)], [20, 'Attempt 23, not yet, level 3', 'Attempt 22', 'Attempt 21, not yet, level 2', 'Attempt 20, passed, level 4', 'Attempt 4, passed, level 4']);
  assert.equal(await one.locator('.attempt pre').count(), 0, 'made when it is opened');

  await one.getByText('Attempt 4, passed, level 4').click();
  const fourth = one.locator('.attempts-list > li').filter({ hasText: 'Attempt 4,' });
  await fourth.getByText('Under: No plus, One line').waitFor();
  assert.equal(await fourth.locator('pre').textContent(), attempts[3].code);
  await fourth.locator('.prose strong', { hasText: 'number 4' }).waitFor();
  await one.getByText('Attempt 22').click();
  await one.getByText('Its review was not kept.').waitFor();
  await one.getByText('Attempt 21,').click();
  await one.getByText('The solution is longer than this.').waitFor();
  await one.getByText('The review is longer than this.').waitFor();
  assert.ok(!(await one.textContent()).includes('the end'));
  await one.getByText('Attempt 23,').click();
  await list.scrollIntoViewIfNeeded();
  await person.looks('kata-attempts');
  await person.page.setViewportSize({ width: 800, height: 800 });
  assert.equal(await one.evaluate((node) => node.scrollWidth <= node.clientWidth), true, 'nothing is wider than the page');
  assert.ok(!(await person.page.content()).includes('The secret'), 'the notes are for the reviewer');

  // What is open stays so when there is one more.
  await one.getByRole('button', { name: 'Hand in' }).click();
  await one.getByText('Your attempts (24)').waitFor();
  await one.getByText(/^Attempt 24, /).waitFor();
  assert.equal(await fourth.count(), 0, 'the oldest of them has gone');
  assert.equal(await one.getByText('The solution is longer than this.').isVisible(), true);
  await person.close();
});

scenario('a review that is under way is waited for also after a reload, and the wait ends with its answer or with the daemon', async (t) => {
  const { claude, daemon, browser } = await world(t);
  daemon.extraEnv.PORT = String(daemon.port);
  await katas(t, daemon, ['one', 'two']);
  const person = await Person.at(browser, daemon, { hash: '#/progress', allow });
  const { page } = person;
  const one = kataOf(page, 'Kata one');
  const send = one.getByRole('button', { name: 'Hand in' });
  const waits = one.getByText(/^Claude is reviewing what was handed in at \d\d:\d\d:\d\d\.$/);
  const handIn = async (text) => {
    claude.hold(claude.requests.length + 1);
    await one.getByLabel('Your solution').fill(text);
    await send.click();
    await one.getByText('Claude is reviewing it.').waitFor();
    await until('Claude is asked', () => claude.held.length === 1);
  };
  await open(one);
  await handIn('first');
  await page.reload();
  await open(one);
  await waits.waitFor();
  assert.equal(await send.isDisabled(), true);
  assert.equal(await one.getByLabel('Your solution').inputValue(), 'first');
  await waits.scrollIntoViewIfNeeded();
  await person.looks('kata-waits');
  const two = kataOf(page, 'Kata two');
  await open(two);
  await two.locator('.kata-task em').waitFor();
  assert.equal(await two.getByRole('button', { name: 'Hand in' }).isEnabled(), true, 'the other kata waits for nothing');
  claude.letGo();
  await one.getByText(/^(Passed|Not yet), level \d$/).waitFor();
  assert.equal(await waits.isVisible(), false);
  assert.equal(await send.isEnabled(), true);
  await one.getByText('Your attempts (1)').waitFor();
  assert.match(await one.locator('> summary').textContent(), /\(1 attempt, best level \d, 2 constraints\)$/);

  // Who reviews is gone.
  await handIn('second');
  await page.reload();
  await open(one);
  await waits.waitFor();
  await daemon.replaced('llm', await daemon.kill9('llm'));
  await one.locator('.problem').filter({ hasText: /\S/ }).waitFor();
  assert.equal(await waits.isVisible(), false);
  assert.equal(await send.isEnabled(), true);

  // The whole daemon is.
  await handIn('third');
  await page.reload();
  await open(one);
  await waits.waitFor();
  await daemon.die();
  await one.getByText('The connection to Paige was lost before the answer came.').waitFor({ timeout: 60000 });
  assert.equal(await waits.isVisible(), false);
  await one.getByText('The connection to Paige was lost').scrollIntoViewIfNeeded();
  await person.looks('kata-lost');
  await daemon.start();
  await one.getByText('Paige waits no longer for this review. If Claude has finished it, it is among your attempts; if not, hand it in again.').waitFor();
  assert.equal(await send.isEnabled(), true);
  claude.letGo();
  await send.click();
  await one.getByText(/^(Passed|Not yet), level \d$/).waitFor();
  await one.getByText('Your attempts (2)').waitFor();
  await person.close();
});

scenario('a page that loses its connection during a review gets the answer when it is back', async (t) => {
  const { claude, daemon } = await world(t);
  const wire = t.closeLater(await Wire.lay(daemon.port));
  // The page asks its daemon by the port it came from.
  const { browser } = t.closeLater(await launch([`--host-resolver-rules=MAP localhost:${daemon.port} 127.0.0.1:${wire.port}`]));
  await katas(t, daemon, ['one']);
  const person = await Person.at(browser, { url: `http://localhost:${daemon.port}` }, { hash: '#/progress', allow });
  const { page } = person;
  const one = kataOf(page, 'Kata one');
  const handIn = async (text) => {
    claude.hold(claude.requests.length + 1);
    await one.getByLabel('Your solution').fill(text);
    await one.getByRole('button', { name: 'Hand in' }).click();
    await until('Claude is asked', () => claude.held.length === 1);
  };
  const cut = async () => {
    wire.break();
    await one.getByText('The connection to Paige was lost before the answer came.').waitFor({ timeout: 60000 });
    assert.equal(await one.getByRole('button', { name: 'Hand in' }).isEnabled(), true);
  };
  await open(one);
  await handIn('first');
  await cut();
  wire.mend();
  await one.getByText(/^Claude is reviewing what was handed in at /).waitFor({ timeout: 60000 });
  assert.equal(await one.getByText('The connection to Paige was lost').count(), 0);
  claude.letGo();
  await one.getByText(/^(Passed|Not yet), level \d$/).waitFor();
  await one.getByText('Your attempts (1)').waitFor();

  // One that comes while nobody hears it.
  await handIn('second');
  await cut();
  claude.letGo();
  await until('the attempt is kept', async () => JSON.parse((await daemon.sql('SELECT user_attempts AS a FROM kata_specs'))[0].a).length === 2);
  await daemon.logged('review_completed', 2);
  wire.mend();
  await one.getByText(/^(Passed|Not yet), level \d$/).waitFor({ timeout: 60000 });
  await one.getByText('Your attempts (2)').waitFor();
  assert.equal(await one.getByText('The connection to Paige was lost').count(), 0);
  await person.close();
});
