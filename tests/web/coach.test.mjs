// coach.test.mjs - what the coach says and what the learner answers.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { Person } from './lib/browser.mjs';
import { world } from './lib/world.mjs';

scenario('a nudge arrives with its reason, is answered, and the answer is in the log', async (t) => {
  // The scripted Claude speaks to those who are idle.
  const { daemon, browser } = await world(t, { env: { OBSERVER_IDLE_MS: '1500', OBSERVER_IDLE_CHECK_MS: '100', OBSERVER_COOLDOWN_MS: '500' } });
  const person = await Person.at(browser, daemon);
  const { page } = person;
  await person.connected();
  await page.getByRole('button', { name: 'Start session' }).click();
  const nudges = page.getByRole('region', { name: 'Messages' }).getByRole('listitem').filter({ hasText: 'The Observer' });
  await nudges.first().getByText('It has been quiet for a while').waitFor();
  await nudges.first().getByText('80 % sure').waitFor();
  await person.accessible('a nudge');
  await person.picture('work-nudge');
  await nudges.first().getByRole('button', { name: 'Helpful' }).click();
  await nudges.first().getByText('You said: helpful.').waitFor();
  assert.equal(await nudges.first().getByRole('button', { name: 'Not now' }).count(), 0);
  assert.deepEqual((await daemon.logged('nudge_answered')).map((row) => row.data), [{ signal: 'idle', helpful: true }]);

  await person.openFile('README.md'); // no longer idle, and then again
  await until('a second nudge', async () => (await nudges.count()) === 2);
  await nudges.first().getByRole('button', { name: 'Not now' }).click();
  await nudges.first().getByText('You said: not now').waitFor();
  assert.deepEqual((await daemon.logged('nudge_answered', 2)).map((row) => row.data.helpful), [true, false]);
  await person.close();
});

scenario('files that Claude hints at are marked in the tree, and the mark can be dismissed in every window', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const [person, other] = [await Person.at(browser, daemon), await Person.at(browser, daemon)];
  for (const one of [person, other]) await one.connected();
  await person.page.getByRole('button', { name: 'Start session' }).click();
  await other.page.getByRole('button', { name: 'End session' }).waitFor();
  await mcp.ok('paige_hint_files', { hints: [{ path: 'README.md', style: 'important' }, { path: 'src/greet.ts', style: 'subtle' }] });
  const row = (one) => one.page.getByRole('treeitem').filter({ hasText: 'README.md' });
  for (const one of [person, other]) await row(one).getByText('important').waitFor();
  await person.openFile('README.md');
  await person.cursor(1);
  await person.page.keyboard.type(' and more');
  await row(person).getByText('unsaved').waitFor();
  for (const width of [1280, 800]) {
    await person.page.setViewportSize({ width, height: 800 });
    // The tree is drawn anew when it has another height.
    await until(`the name is seen beside what is said of it at ${width}`, async () => (await row(person).locator('.tree-name').evaluate((node) => node.clientWidth)) >= 45);
    await person.picture(`work-hints-${width}`);
  }
  await person.page.setViewportSize({ width: 1280, height: 800 });
  await person.page.getByRole('tree', { name: 'Files' }).focus();
  await person.page.keyboard.press('r');
  await person.page.keyboard.press('Delete');
  for (const one of [person, other]) await row(one).getByText('important').waitFor({ state: 'detached' });
  await other.page.getByRole('button', { name: 'Dismiss hints' }).click();
  for (const one of [person, other]) await one.page.getByRole('button', { name: 'Dismiss hints' }).waitFor({ state: 'hidden' });
  assert.deepEqual((await daemon.logged('hint_dismissed', 2)).map((line) => line.data.path), ['README.md', 'src/greet.ts']);
  for (const one of [person, other]) await one.close();
});

scenario('code in what Claude says is set off, and nothing of it becomes markup', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const person = await Person.at(browser, daemon);
  const { page } = person;
  await person.connected();
  await page.getByRole('button', { name: 'Start session' }).click();
  await page.getByRole('button', { name: 'End session' }).waitFor();
  await mcp.ok('paige_show_message', { message: 'Call `greet(<b>name</b>)` so:\n\n```ts\nconst x = "<img src=x onerror=alert(1)>";\n\nif (x) greet(x);\n```\nThen *run* it.', type: 'hint' });
  const message = page.getByRole('region', { name: 'Messages' }).getByRole('listitem').first();
  assert.equal(await message.getByRole('group', { name: 'Code' }).textContent(), 'const x = "<img src=x onerror=alert(1)>";\n\nif (x) greet(x);');
  assert.deepEqual(await message.locator('p code').allTextContents(), ['greet(<b>name</b>)']);
  assert.deepEqual(await message.locator('p.text').allTextContents(), ['Call greet(<b>name</b>) so:', 'Then run it.']);
  assert.deepEqual(await message.locator('em').allTextContents(), ['run']);
  assert.equal(await message.locator('img, b').count(), 0);
  await person.accessible('code in a message');
  await person.picture('work-code');
  await person.close();
});
