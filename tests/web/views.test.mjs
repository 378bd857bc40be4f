// views.test.mjs - the views Activity, Guards and Progress.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentClient } from '../integration/lib/agent-client.mjs';
import { Guard } from '../integration/lib/guard.mjs';
import { sideBySide as scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { launch, Person } from './lib/browser.mjs';

/** Stands in for Claude Code. */
const AGENT = fileURLToPath(new URL('../integration/agent/fake-agent.mjs', import.meta.url));

scenario('who has just begun is told in each view why it is empty, and not that something is looked for', async (t) => {
  const claude = await t.claude();
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: claude.url, LLM_RETRY_BASE_MS: '200' } });
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/activity' });
  const { page } = person;
  await page.getByText('Nothing is in the log yet: what is done in a session is logged.').waitFor();
  await page.getByLabel('with').fill('anything');
  await page.getByText('Nothing in the log matches.').waitFor();
  await person.looks('activity-empty');
  await page.getByRole('link', { name: 'Progress' }).click();
  await page.getByRole('region', { name: 'Materials' }).getByText('What to read is found for the gaps that a session has shown.').waitFor();
  await page.getByRole('region', { name: 'Skills' }).getByText('Skills are assessed when a session is wrapped up.').waitFor();
  await person.looks('progress-empty');
  await person.close();
});

scenario('activity: the log is live, filtered by type and text, and older pages come when one scrolls', async (t) => {
  const day = new Date().toDateString();
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 3 });
  const { payload } = await editor.next('session:started');
  await daemon.sql(`INSERT INTO action_log VALUES ('of-old', '${payload.sessionId}', 'selection', '{"path":"days-ago.ts","textLength":1}', '${new Date(Date.now() - 3 * 86400000).toISOString()}')`);
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
  await page.getByLabel('with').fill('days-ago.ts');
  await until('one row', async () => (await inPage()) === 1);
  assert.match(await table.locator('.log-row time').textContent(), /\d+, \d\d:\d\d$/, 'what was on another day says which');
  await page.getByLabel('with').fill('number 17.ts');
  await until('that row', async () => (await table.getByText('number 17.ts').count()) === 1);
  // Unless this is done at midnight.
  if (new Date().toDateString() === day) assert.match(await table.locator('.log-row time').textContent(), /^\d\d:\d\d:\d\d$/);
  await until('one row', async () => (await inPage()) === 1);
  await page.getByLabel('with').fill('');
  const shown = page.locator('.types summary');
  await shown.click();
  await page.getByRole('checkbox', { name: 'Session started' }).check();
  await until('one row of that type', async () => (await inPage()) === 1);
  assert.equal(await shown.textContent(), 'Session started');
  await page.getByLabel('with').fill('number 59');
  assert.equal(await page.getByRole('checkbox').count(), 0, 'the types are out of the way');
  await shown.click();
  await page.getByRole('checkbox', { name: 'Tab switch' }).check();
  await until('the rows of two types with a text', async () => (await inPage()) === 11);
  assert.equal(await shown.textContent(), 'Tab switch, Session started');
  editor.send('editor:tab_switch', { toPath: 'number 59 again.ts' });
  editor.send('editor:selection', { path: 'number 59.ts', range: { startLine: 1, startCol: 1, endLine: 1, endCol: 2 }, textLength: 1 });
  editor.send('editor:tab_switch', { toPath: 'number 59, the last.ts' });
  await table.getByText('to: number 59, the last.ts').waitFor();
  assert.equal(await inPage(), 13, 'the selection is of a third type');
  await person.looks('activity-types');
  await page.getByRole('checkbox', { name: 'Selection', exact: true }).check();
  await until('the rows of three types', async () => (await inPage()) === 14);
  await table.getByText('number 59.ts, range: from line 1 column 1 to line 1 column 2, characters: 1').waitFor();
  assert.equal(await shown.textContent(), '3 types');
  await page.getByRole('button', { name: 'Everything' }).click();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('checkbox').count(), 0);
  await page.getByLabel('with').fill('');
  await table.getByText('just-now.ts').waitFor();
  await table.locator('.log-row').filter({ hasText: 'just-now.ts' }).getByRole('button').click();
  await page.getByRole('group', { name: 'Row', exact: true }).getByText('"toPath": "just-now.ts"').waitFor();
  await person.looks('activity');
  await person.close();
});

scenario('activity: the address keeps the filter, over a reload, a link and another view', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 3 });
  await editor.next('session:started');
  for (const name of ['one/a & b.ts', 'two.ts', '100%.ts']) editor.send('editor:tab_switch', { toPath: name });
  await daemon.logged('tab_switch', 3);
  const person = await Person.at(browser, daemon, { hash: '#/activity' });
  const { page } = person;
  const table = page.getByRole('table', { name: 'Actions' });
  const rows = async (n) => until(`${n} rows`, async () => (await table.locator('.log-row').count()) === n);
  const shows = async (types, text, n) => {
    await rows(n);
    assert.equal(await page.locator('.types summary').textContent(), types);
    assert.equal(await page.getByLabel('with', { exact: true }).inputValue(), text);
  };
  await table.getByText('two.ts').waitFor();
  const hash = () => page.evaluate(() => location.hash);
  await page.getByLabel('with').fill('one/a & b');
  await rows(1);
  assert.equal(await hash(), '#/activity/all/one%2Fa%20%26%20b');
  await page.reload();
  await shows('Everything', 'one/a & b', 1);
  await page.getByLabel('with').fill('');
  await page.locator('.types summary').click();
  for (const name of ['Tab switch', 'Session started']) await page.getByRole('checkbox', { name }).check();
  await rows(4);
  assert.equal(await hash(), '#/activity/tab_switch,session_started');
  await page.reload();
  await shows('Tab switch, Session started', '', 4);
  await page.getByRole('link', { name: 'System' }).click();
  await page.getByRole('heading', { name: 'System' }).waitFor();
  await page.getByRole('link', { name: 'Activity' }).click();
  await shows('Tab switch, Session started', '', 4);
  assert.equal(await hash(), '#/activity/tab_switch,session_started');
  await page.goto(`${daemon.url}/#/activity/tab_switch,no_type,<i>/100%25`);
  await shows('Tab switch', '100%', 1);
  await page.goto(`${daemon.url}/#/activity/all`);
  await shows('Everything', '', 4);
  assert.equal(await hash(), '#/activity');
  await person.close();
});

scenario('activity: a row that comes both live and in a page of the log is shown once', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 3 });
  await editor.next('session:started');
  // The page is asked for only when some rows have come live, so it has them, too; and each event comes twice.
  const before = () => {
    const { set } = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
    const { send } = WebSocket.prototype;
    window.live = 0;
    window.pages = 0;
    WebSocket.prototype.send = function later(text) {
      if (JSON.parse(text).type === 'log:page' && window.live < 5) setTimeout(() => this.send(text), 20);
      else send.call(this, text);
    };
    Object.defineProperty(WebSocket.prototype, 'onmessage', {
      set(take) {
        set.call(this, (event) => {
          const { type } = JSON.parse(event.data);
          take(event);
          if (type === 'log:row') {
            window.live += 1;
            take(event);
          } else if (type === 'log:rows') window.pages += 1;
        });
      },
    });
  };
  const person = await Person.at(browser, daemon, { hash: '#/activity', before });
  const { page } = person;
  await person.connected();
  let n = 0;
  await until('five rows have come live, and the page behind them', async () => {
    editor.send('editor:tab_switch', { toPath: `number ${(n += 1)}.ts` });
    return (await page.evaluate(() => window.live >= 5 && window.pages)) > 0;
  }, { every: 200 });
  const table = page.getByRole('table', { name: 'Actions' });
  await daemon.logged('tab_switch', n);
  const total = (await daemon.sql('SELECT count(*) AS n FROM action_log'))[0].n;
  await until('all rows', async () => (await table.locator('.log-row').count()) >= total);
  const shown = await table.locator('.log-row').allTextContents();
  assert.equal(shown.length, total);
  for (let i = 1; i <= n; i += 1) assert.equal(shown.filter((text) => text.includes(`number ${i}.ts`)).length, 1, `number ${i}.ts`);
  await person.close();
});

/** What a countdown shows, until it is another. */
async function runs(what, left, form) {
  await until(`${what} counts down`, async () => form.test(await left.textContent()));
  const now = await left.textContent();
  await until(`${what} goes on`, async () => (await left.textContent()) !== now);
}

scenario('guards: a session guard is watched while it is driven over HTTP', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const guard = await Guard.create(daemon, 'session-guard', 'one', { timeboxMs: 3600000, codingQuestion: 'Write a cache.' });
  const person = await Person.at(browser, daemon, { hash: '#/guards/session-guard/one' });
  const { page } = person;
  const left = person.fact('Countdown');
  await left.filter({ hasText: '60:00' }).waitFor();
  assert.equal(await person.fact('Gate reason').count(), 0, 'none applies yet');
  await guard.event({ type: 'question_asked', text: 'Tell me about a project.' });
  await runs('the guard', left, /^59:\d\d$/);
  const zero = { adaptability: 0, creativity: 0, reasoning: 0 };
  await guard.event({ type: 'control_result', pillars: zero });
  await person.fact('zeroRuns').filter({ hasText: /^1$/ }).waitFor();
  await guard.event({ type: 'control_result', pillars: { adaptability: 80, creativity: 40, reasoning: 60 }, rationales: { adaptability: '"I <b>changed</b> course"', creativity: 'said "a new idea"' } });
  await person.fact('zeroRuns').filter({ hasText: /^0$/ }).waitFor();
  await person.fact('projectsUsed').filter({ hasText: /^1$/ }).waitFor();
  const pillars = page.getByRole('group', { name: 'Latest pillars' });
  await pillars.getByRole('row').filter({ hasText: 'Adaptability' }).filter({ hasText: '80 of 100' }).getByText('"I <b>changed</b> course"').waitFor();
  const { state } = await guard.event({ type: 'response_started' });
  for (const [name, { conf, tau }] of Object.entries(state.traits)) await page.getByRole('group', { name: 'Traits' }).getByRole('row').filter({ hasText: new RegExp(name, 'i') }).getByText(`${conf.toFixed(2)} of ${tau.toFixed(2)}`).waitFor();
  await person.fact('Speaking').filter({ hasText: 'the coach' }).waitFor();
  await guard.event({ type: 'response_done' });
  let { phase, reason } = state;
  for (let i = 0; i < 100 && phase !== 'coding'; i += 1) {
    // Refused when the gate has opened by itself since the state was read.
    await guard.post({ type: 'control_result', pillars: { adaptability: 90, creativity: 90, reasoning: 90 } });
    ({ phase, reason } = (await guard.get()).state);
  }
  assert.deepEqual([phase, reason], ['coding', 'gate']);
  await person.fact('Gate reason').filter({ hasText: 'Gate: the traits are known well enough' }).waitFor();
  await page.getByRole('region', { name: 'Effects' }).getByText('Transition').waitFor();

  const slider = page.getByRole('slider', { name: 'Event' });
  await until('the events in the scrubber', async () => Number(await slider.getAttribute('max')) >= 6);
  await page.getByRole('button', { name: 'First' }).click();
  await page.getByText(/^Event 1 of/).waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText(/^Event 2 of/).waitFor();
  await page.getByRole('button', { name: 'Check the stream' }).click();
  await page.getByText('every one came out as it is stored').waitFor();
  await person.looks('guards-session');
  await person.close();
});

scenario('guards: a BreakLoop is watched while it is driven over HTTP', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const guard = await Guard.create(daemon, 'breakloop', 'phone', { monitored: ['instagram'], nQuickTask: 2, windowHours: 24, quickTaskMs: 60000, timezone: 'UTC' });
  const person = await Person.at(browser, daemon, { hash: '#/guards' });
  const { page } = person;
  await page.getByRole('region', { name: 'Guards' }).getByRole('link', { name: 'phone' }).click();
  assert.match(page.url(), /#\/guards\/breakloop\/phone$/);
  await person.fact('Quick tasks left').filter({ hasText: '2 of 2' }).waitFor();
  await runs('the refill', person.fact('Next refill'), /^\d+:\d\d(:\d\d)?$/);
  await guard.event({ type: 'app_entered', app: 'instagram' });
  await person.fact('In front').filter({ hasText: 'instagram' }).waitFor();
  await person.fact('Quick tasks left').filter({ hasText: '1 of 2' }).waitFor();
  await runs('the quick task', page.getByRole('group', { name: 'Apps' }).getByRole('row').filter({ hasText: 'instagram' }).locator('.count'), /^00:\d\d$/);
  await person.looks('guards-breakloop');
  await person.close();
});

scenario('guards: the chosen machine is seen in the list, however narrow the page is and whatever changes beside it', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const guards = [];
  for (let i = 0; i < 24; i += 1) guards.push(await Guard.create(daemon, 'idle', `machine-${String(i).padStart(2, '0')}`, { idleTimeoutMs: 60000, maxIdleMs: 600000 }));
  // The one that has changed last is the first, so this one is the last.
  const person = await Person.at(browser, daemon, { hash: '#/guards/idle/machine-00', width: 800 });
  const { page } = person;
  const list = page.getByRole('group', { name: 'All machines' });
  const link = (name) => list.getByRole('link', { name, exact: true });
  const seen = (name) => link(name).evaluate((node) => {
    const [box, item] = [node.closest('.scrolls').getBoundingClientRect(), node.closest('li').getBoundingClientRect()];
    return item.height > 0 && item.top >= box.top - 1 && item.bottom <= box.bottom + 1;
  });
  const isSeen = (name, what) => until(`${name} is seen ${what}`, async () => (await link(name).getAttribute('aria-current')) === 'true' && seen(name));
  await person.fact('Verdict').waitFor();
  await isSeen('machine-00', 'at the end of the list');
  assert.equal(await seen('machine-23'), false, 'the list is longer than what is seen of it');
  assert.equal(await page.locator('.guards').evaluate((node) => node.closest('main').scrollTop + node.scrollTop), 0, 'the page has not moved');
  await person.looks('guards-many');
  await isSeen('machine-00', 'after another width');

  await guards[0].event({ type: 'client_connected' });
  await until('it is the first', async () => (await list.getByRole('link').first().textContent()) === 'machine-00');
  await isSeen('machine-00', 'as the first, after a change');
  for (const guard of guards.slice(1)) await guard.event({ type: 'client_connected' });
  await until('it is the last', async () => (await list.getByRole('link').last().textContent()) === 'machine-00');
  await isSeen('machine-00', 'as the last again');

  await page.setViewportSize({ width: 800, height: 800 });
  await isSeen('machine-00', 'on a narrow page');
  await page.evaluate(() => (location.hash = '#/guards/idle/machine-12'));
  await isSeen('machine-12', 'when another is chosen');

  // Who looks for another one is not taken back.
  await list.evaluate((node) => (node.scrollTop = node.scrollHeight));
  await until('it is out of sight', async () => !(await seen('machine-12')));
  await guards[0].event({ type: 'client_disconnected' });
  await until('the list is drawn again', async () => (await list.getByRole('link').first().textContent()) === 'machine-00');
  assert.equal(await seen('machine-12'), false);
  await person.close();
});

scenario('guards: an interview with its transcript, coverage and replay', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const guard = await Guard.create(daemon, 'interview', 'talk', { evaluator: 'keywords' });
  const person = await Person.at(browser, daemon, { hash: '#/guards/interview/talk' });
  const { page } = person;
  await person.fact('Status').filter({ hasText: 'Not started' }).waitFor();
  const { state } = await guard.event({ type: 'start' });
  await person.fact('Status').filter({ hasText: 'In progress' }).waitFor();
  await runs('the section', person.fact('Section ends in'), /^\d\d:\d\d$/);
  const transcript = page.getByRole('region', { name: 'Transcript' });
  await transcript.getByText('Interviewer').first().waitFor();
  await guard.event({ type: 'candidate_message', text: 'The goal is to <i>understand</i> what the outcome should be.' });
  await transcript.getByText('The goal is to <i>understand</i> what the outcome should be.').waitFor();
  const sections = page.getByRole('group', { name: 'Sections' });
  await sections.getByRole('row').filter({ hasText: 'Running' }).getByText(/: covered$/).first().waitFor();
  assert.match(await sections.getByRole('row').filter({ hasText: 'Running' }).locator('.count').textContent(), /^\d\d:\d\d$/);
  await page.getByRole('button', { name: 'First' }).click();
  await until('what came later is not shown', async () => !(await transcript.getByText('The goal is to <i>understand</i>').isVisible()));
  await page.getByRole('button', { name: 'Play' }).click();
  await transcript.getByText('The goal is to <i>understand</i> what the outcome should be.').waitFor();
  await page.getByRole('button', { name: 'Last' }).click();
  await guard.event({ type: 'done' });
  await sections.getByText('The candidate was done').waitFor();
  assert.ok(state.memory_state.sections.length >= 1);
  await person.looks('guards-interview');
  await person.close();
});

scenario('guards: an idle guard with its clients, its verdict and the time until the next check', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const guard = await Guard.create(daemon, 'idle', 'agent', { idleTimeoutMs: 60000, maxIdleMs: 600000 });
  const person = await Person.at(browser, daemon, { hash: '#/guards/idle/agent' });
  const { page } = person;
  await guard.event({ type: 'client_connected' });
  await person.fact('Verdict').filter({ hasText: 'clients are connected' }).waitFor();
  await person.fact('Clients').filter({ hasText: /^1$/ }).waitFor();
  await guard.event({ type: 'prompt_written' });
  await person.fact('Turn in progress').filter({ hasText: 'yes' }).waitFor();
  await guard.event({ type: 'client_disconnected' });
  await person.fact('Clients').filter({ hasText: /^0$/ }).waitFor();
  await runs('the next check', person.fact('Next check in'), /^0[01]:\d\d$/);
  await person.looks('guards-idle');
  await page.goto(`${daemon.url}/#/guards/idle/nobody`);
  await page.getByText('There is no machine idle/nobody.').waitFor();
  await person.close();
});

scenario('guards: agent sessions with their clients, the verdict and the time until each is looked at and ends', async (t) => {
  const daemon = await t.daemon({ env: { AGENT_COMMAND: `${process.execPath} ${AGENT}`, IDLE_TIMEOUT_MS: '60000', MAX_IDLE_MS: '600000' } });
  fs.mkdirSync(path.join(daemon.projectDir, 'one'));
  const { browser } = t.closeLater(await launch());
  const before = () => {
    const { send } = WebSocket.prototype;
    window.asked = 0;
    WebSocket.prototype.send = function (text) {
      window.asked += text.includes('"agents:request"');
      send.call(this, text);
    };
  };
  const person = await Person.at(browser, daemon, { hash: '#/guards', before });
  const agents = person.page.getByRole('region', { name: 'Agents' });
  await agents.getByText('No agent session.').waitFor();
  const client = t.closeLater(await AgentClient.connect(daemon));
  await client.join('one');
  const row = agents.getByRole('listitem').filter({ hasText: 'one' });
  await row.filter({ hasText: 'Stays' }).filter({ hasText: '1 client' }).waitFor();
  assert.equal(await row.locator('.count').count(), 0, 'nothing runs out while a client is there');
  client.send({ type: 'prompt', text: 'work 8000' });
  await row.filter({ hasText: 'works on 1 prompt' }).waitFor();
  await client.close();
  await row.filter({ hasText: 'Kept for now' }).filter({ hasText: 'no client' }).filter({ hasText: 'CC is mid-turn' }).waitFor();
  await runs('the next look', row.locator('.count').first(), /^(01:00|00:5\d)$/);
  await runs('the end at the latest', row.locator('.count').last(), /^(10:0\d|09:5\d)$/);
  await row.filter({ hasText: 'Will be ended' }).filter({ hasText: 'idle timeout' }).waitFor();
  await runs('the end', row.locator('.count'), /^00:[1-5]\d$/);
  assert.equal(await person.page.evaluate(() => window.asked), 1, 'asked once, and told of all that changed since');
  await person.looks('guards-agents');
  await person.close();
  const other = await Person.at(browser, await t.daemon(), { hash: '#/guards' });
  await other.page.getByRole('region', { name: 'Agents' }).getByText('No agents are run here. With AGENT_COMMAND').waitFor();
  await other.close();
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
  await kata.locator('> summary').click();
  await kata.getByLabel('Your solution').fill('export const greet = () => "Hello";');
  await kata.getByRole('button', { name: 'Hand in' }).click();
  await kata.getByText(/(Passed|Not yet), level \d/).waitFor();
  assert.equal(JSON.parse((await daemon.sql('SELECT user_attempts AS a FROM kata_specs'))[0].a).length, 1);
  assert.match(await kata.locator('> summary').textContent(), /\(1 attempt, (best level \d|not passed yet)(, \d+ constraints?)?\)$/);
  await person.looks('progress');
  const days = page.getByRole('region', { name: 'Activity by day' });
  await days.getByText(/^Active on 1 day, 2 sessions, /).waitFor();
  await days.locator('summary').click();
  await days.getByRole('row').filter({ hasText: new Date().toISOString().slice(0, 10) }).waitFor();
  await page.getByLabel('Of', { exact: true }).selectOption('7d');
  await days.getByText(/^Active on 1 day/).waitFor();
  await person.close();
});
