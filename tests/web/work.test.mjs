// work.test.mjs - a learner's journeys through the Work view, in a real browser against the real daemon.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { smallProject } from '../integration/lib/project.mjs';
import { sideBySide as scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { Person } from './lib/browser.mjs';
import { buffer, world } from './lib/world.mjs';

const PLAN = { planText: '# Plan\n\n1. Read greet\n2. Greet nobody politely\n3. Test it', issueSummary: 'greet fails without a name' };
const LONG = 'a-name-that-goes-on-and-on-far-beyond-what-any-column-of-the-tree-or-a-tab-has-room-for.ts';

scenario('the first visit: what to do is said, and the first step works without a session', async (t) => {
  const { daemon, browser, mcp } = await world(t, { projectDir: t.keep(smallProject({ [`src/${LONG}`]: 'export {};\n' })) });
  for (const scheme of ['light', 'dark'])
    for (const width of [1280, 800]) {
      const person = await Person.at(browser, daemon, { scheme, width });
      await person.connected();
      await person.page.getByText('Open a file and type.').waitFor();
      await person.openFile('src');
      await person.accessible(`first visit, ${scheme}, ${width}`);
      const beside = await person.page.getByRole('complementary', { name: 'Coach' }).evaluate((node) => node.scrollWidth - node.clientWidth);
      assert.equal(beside, 0, `no card of the coach is cut off at ${width}`);
      const below = await person.page.getByRole('region', { name: 'First steps' }).getByRole('listitem').evaluateAll((steps) => steps.filter((step) => step.getBoundingClientRect().bottom > innerHeight).map((step) => step.textContent));
      assert.deepEqual(below, [], `every step is seen at ${width} without scrolling`);
      await person.picture(`work-first-${scheme}-${width}`);
      await person.close();
    }
  const person = await Person.at(browser, daemon);
  await person.connected();
  await person.openFile('README.md');
  await person.cursor(1);
  await person.editor().pressSequentially(' and more');
  await until('the unsaved text as Claude sees it', async () => (await buffer(mcp, 'README.md'))?.content.startsWith('# Greeter and more\n'));
  await person.page.getByText('Claude can see this line').waitFor();
  // An explanation does not end the first steps: two of them are still to be done.
  const steps = person.page.getByRole('region', { name: 'First steps' });
  await person.page.getByRole('button', { name: 'Explain' }).click();
  const explanation = person.page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
  await explanation.filter({ hasText: 'Explanation, README.md' }).waitFor();
  await steps.getByText('Connect Claude Code.').waitFor();
  const tops = await Promise.all([explanation, steps].map(async (one) => (await one.first().boundingBox()).y));
  assert.ok(tops[0] < tops[1], 'what was said comes first');
  await person.accessible('an explanation, with steps to do');
  await person.page.getByRole('button', { name: 'Start session' }).click();
  await steps.waitFor({ state: 'hidden' });
  assert.equal(fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8'), '# Greeter\n\nSays hello.\n');
  await person.close();
});

scenario('open, type, Claude points, the mark moves with the text, save, conflict', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const person = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  const { page } = person;
  const file = path.join(daemon.projectDir, 'src/greet.ts');
  await page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  const before = await person.text();

  const told = await mcp.ok('paige_highlight_lines', { path: 'src/greet.ts', start: 2, end: 2, style: 'focus', hoverText: 'Where does the name come from?' });
  assert.equal(told.windows, 1);
  const note = page.getByRole('note').filter({ hasText: 'Where does the name come from?' });
  await note.waitFor();
  const marked = () => page.evaluate(() => [...document.querySelectorAll('.CodeMirror-code > div')].map((line) => line.querySelector('.mark-focus') !== null));
  assert.deepEqual((await marked()).slice(0, 3), [false, true, false]);
  await person.cursor(1);
  await page.keyboard.press('Home');
  await page.keyboard.type('// above\n');
  await until('the mark on the third line', async () => JSON.stringify((await marked()).slice(0, 4)) === '[false,false,true,false]');
  await person.picture('work-highlight');
  const other = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  await other.page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  await mcp.ok('paige_highlight_lines', { path: 'src/greet.ts', start: 3, end: 3, style: 'hint', hoverText: 'For both' });
  await other.page.getByRole('note').filter({ hasText: 'For both' }).waitFor();
  await page.getByRole('note').filter({ hasText: 'For both' }).getByRole('button', { name: 'Dismiss' }).click();
  await other.page.getByRole('note').filter({ hasText: 'For both' }).waitFor({ state: 'detached' });
  await other.close();
  await note.getByRole('button', { name: 'Dismiss' }).click();
  assert.equal(await note.count(), 0);

  await page.getByRole('button', { name: 'Save' }).click();
  await until('the file on the disk', () => fs.readFileSync(file, 'utf8') === `// above\n${before}`);
  await until('nothing unsaved', async () => (await buffer(mcp, 'src/greet.ts'))?.dirty === false);

  await person.cursor(1);
  await page.keyboard.type(' mine');
  fs.writeFileSync(file, `// theirs\n${before}`);
  await page.getByText('The file changed on disk').waitFor();
  await page.getByRole('button', { name: 'Compare' }).click();
  const comparison = page.getByRole('group', { name: 'Comparison' });
  await comparison.getByText('// above mine').waitFor();
  assert.equal((await comparison.locator('.removed').textContent()).replace(/\s+/g, ' '), '1−on disk: // theirs');
  await person.accessible('a conflict');
  await person.picture('work-conflict');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await until('mine on the disk', () => fs.readFileSync(file, 'utf8') === `// above mine\n${before}`);
  await page.getByText('The file changed on disk').waitFor({ state: 'hidden' });

  await person.cursor(1);
  await page.keyboard.type(' again');
  fs.writeFileSync(file, `// theirs again\n${before}`);
  await page.getByRole('button', { name: 'Take theirs' }).click();
  await until('their text in the editor', async () => (await person.text()) === `// theirs again\n${before}`);
  await until('their text for Claude', async () => (await buffer(mcp, 'src/greet.ts'))?.content === `// theirs again\n${before}`);
  await person.close();
});

scenario('a highlight goes with a renamed file where the text has moved it, and one that is dismissed while another file is shown leaves nothing', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const person = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  const { page } = person;
  await page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  await mcp.ok('paige_highlight_lines', { path: 'src/greet.ts', start: 2, end: 2, style: 'hint', hoverText: 'Look at the name' });
  const note = (one) => one.page.getByRole('note').filter({ hasText: 'Look at the name' });
  await note(person).waitFor();
  await person.cursor(1);
  await page.keyboard.press('Home');
  await page.keyboard.type('// above\n');
  /** The lines, from 1, that have the colour of a mark, and those that have a dot in the gutter. */
  const marked = () => page.evaluate(() => {
    const lines = [...document.querySelectorAll('.CodeMirror-code > div')];
    const those = (what) => lines.flatMap((line, i) => (line.querySelector(what) ? [i + 1] : []));
    return JSON.stringify([those('.mark-hint'), those('.gutter-hint')]);
  });
  await until('the mark on the third line', async () => (await marked()) === '[[3],[3]]');
  fs.renameSync(path.join(daemon.projectDir, 'src/greet.ts'), path.join(daemon.projectDir, 'src/hello.ts'));
  await page.getByRole('button', { name: 'Close src/hello.ts' }).waitFor();
  assert.equal(await marked(), '[[3],[3]]');
  assert.equal(await note(person).count(), 1);

  // Another window has the highlight under the new name.
  const other = await Person.at(browser, daemon, { hash: '#/work/src/hello.ts' });
  await other.page.getByRole('button', { name: 'Close src/hello.ts' }).waitFor();
  await mcp.ok('paige_highlight_lines', { path: 'src/hello.ts', start: 1, end: 1, style: 'hint', hoverText: 'Look at the name' });
  await until('a second mark', async () => (await marked()) === '[[1,3],[1,3]]');
  await person.openFile('README.md');
  await until('the other file', async () => (await person.text()).startsWith('# Greeter'));
  await note(other).getByRole('button', { name: 'Dismiss' }).click();
  await mcp.ok('paige_show_message', { message: 'Said after it.', type: 'info' });
  await page.getByText('Said after it.').waitFor();
  await person.openFile('hello.ts');
  await until('the file again', async () => (await person.text()).startsWith('// above'));
  assert.equal(await marked(), '[[3],[3]]');
  await person.close();
  await other.close();
});

scenario('an edit draws its line anew and nothing else, but for the first one, which makes the file unsaved', async (t) => {
  const { daemon, browser } = await world(t);
  const person = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  const { page } = person;
  await person.openFile('README.md');
  await page.getByRole('button', { name: 'Close README.md' }).waitFor();
  await person.cursor(1);
  // What is drawn anew beside the editor from now on, in words.
  await page.evaluate(() => {
    window.drawn = [];
    new MutationObserver((changes) => {
      for (const { target } of changes) if (!target.parentElement?.closest('.editor')) window.drawn.push(target.className || target.nodeName);
    }).observe(document.querySelector('.work'), { subtree: true, childList: true, characterData: true, attributes: true });
  });
  const drawn = () => page.evaluate(() => window.drawn.splice(0));
  const unsaved = page.locator('.tab.current').getByText('unsaved');
  await page.keyboard.type('a');
  await unsaved.waitFor();
  assert.ok((await drawn()).includes('tabs'));
  await page.keyboard.type('bcd efg');
  await until('all is typed', async () => (await person.text()).startsWith('# Greeterabcd efg\n'));
  assert.deepEqual(await drawn(), []);
  await page.keyboard.press('Control+s');
  await unsaved.waitFor({ state: 'detached' });
  await page.keyboard.type('h');
  await unsaved.waitFor();
  for (let i = 0; i < 20 && (await unsaved.count()); i += 1) await page.keyboard.press('Control+z');
  await unsaved.waitFor({ state: 'detached' });
  await person.close();
});

scenario('a session from its start to its end: plan, phases, explanation, message, mute', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const person = await Person.at(browser, daemon);
  const { page } = person;
  await person.connected();
  await page.getByLabel('Issue').fill('7');
  await page.getByRole('button', { name: 'Start session' }).click();
  await page.getByRole('status').filter({ hasText: 'session on issue 7' }).waitFor();

  await mcp.ok('paige_run_coaching_pipeline', PLAN);
  await mcp.ok('paige_update_phase', { phase: 1, status: 'active' });
  const phases = page.getByRole('region', { name: 'Phases' });
  await phases.getByText('Read greet', { exact: true }).waitFor();
  assert.match(await phases.locator('[aria-current=step]').textContent(), /Read greet.*current/);

  await person.openFile('src', 'greet.ts');
  await person.cursor(2);
  await page.getByRole('button', { name: 'Explain' }).click();
  const messages = page.getByRole('region', { name: 'Messages' });
  await messages.getByText('Explanation, src/greet.ts').waitFor();
  await mcp.ok('paige_show_message', { message: 'Look at <b>greet</b> <img src=x onerror=alert(1)>', type: 'hint', anchor: { path: 'src/main.ts', range: { startLine: 3, endLine: 3 } } });
  await messages.getByText('Look at <b>greet</b> <img src=x onerror=alert(1)>').waitFor();
  await messages.getByRole('button', { name: 'src/main.ts:3' }).click();
  await page.getByRole('button', { name: 'Close src/main.ts' }).waitFor();

  await page.getByRole('button', { name: 'Mute' }).click();
  await page.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
  await page.getByRole('status').filter({ hasText: /^Connected, session on issue 7, nudges muted, \$0\.00 today, scripted Claude$/ }).waitFor();
  for (const scheme of ['light', 'dark'])
    for (const width of [1280, 800]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
      await person.accessible(`a session, ${scheme}, ${width}`);
      await person.picture(`work-session-${scheme}-${width}`);
    }
  await page.setViewportSize({ width: 1280, height: 800 });
  await mcp.ok('paige_update_phase', { phase: 1, status: 'complete' });
  await page.getByRole('button', { name: 'End session' }).click();
  await messages.getByText('Session ended').waitFor();
  await messages.getByText(/1 phase was completed/).waitFor();
  await page.getByRole('button', { name: 'Start session' }).waitFor();
  await person.close();
});

scenario('reload in mid-typing, with and without a session: nothing of the text is lost', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const person = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  const { page } = person;
  await page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  for (const round of [1, 2]) {
    await person.cursor(1);
    await page.keyboard.type(` round ${round}`);
    const typed = await person.text();
    await page.reload();
    await until('the text after the reload', async () => (await person.text()) === typed);
    await page.getByText('src/greet.ts, unsaved').waitFor();
    await until('the text for Claude', async () => (await buffer(mcp, 'src/greet.ts'))?.content === typed);
    if (round === 1) {
      await page.getByRole('button', { name: 'Start session' }).click();
      await page.getByRole('button', { name: 'End session' }).waitFor();
    }
  }
  await person.close();
});

scenario('the gateway is killed while the learner types: every character arrives', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  // What a lost connection says in the console is what this is about.
  const person = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts', allow: (text) => /WebSocket|\/health|status 503|ERR_/.test(text) });
  const { page } = person;
  await page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  await person.cursor(1);
  const typing = page.keyboard.type(' one two three four five six seven', { delay: 20 });
  const old = await daemon.kill9('gateway');
  await typing;
  await daemon.replaced('gateway', old);
  await person.connected();
  const typed = await person.text();
  assert.match(typed, /one two three four five six seven/);
  await until('the whole text for Claude', async () => (await buffer(mcp, 'src/greet.ts'))?.content === typed);
  await person.close();
});

scenario('the keyboard alone: tree, editor, save; and two windows see each other save', async (t) => {
  const { daemon, browser } = await world(t);
  const person = await Person.at(browser, daemon);
  const other = await Person.at(browser, daemon, { hash: '#/work/README.md' });
  const { page } = person;
  await person.connected();
  await other.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  await page.getByRole('tree', { name: 'Files' }).focus();
  await page.keyboard.press('r');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Close README.md' }).waitFor();
  for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') === 'Editor')); i += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('By keyboard. ');
  await page.keyboard.press('Control+s');
  await until('the file on the disk', () => fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8').startsWith('By keyboard. # Greeter'));
  await until('the text in the other window', async () => (await other.text()).startsWith('By keyboard. # Greeter'));
  await page.keyboard.press('Tab');
  assert.notEqual(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Editor');
  await person.close();
  await other.close();
});

scenario('the first visit fetches nothing twice and nothing of views that nobody looks at', async (t) => {
  const { browser, daemon } = await world(t);
  const person = await Person.at(browser, daemon, { hash: '#/work/README.md' });
  await person.cursor(1);
  const fetched = await person.page.evaluate(() => performance.getEntriesByType('resource').filter(({ startTime }) => startTime < 3000).map(({ name }) => new URL(name).pathname.replace(/.*\//, '')));
  assert.deepEqual(fetched.filter((name, i) => fetched.indexOf(name) !== i), []);
  assert.equal(fetched.filter((name) => name.endsWith('.css')).length, 1, 'the first paint waits for one style sheet');
  assert.equal(fetched.includes('health'), false, 'only System asks for it');
  assert.ok(fetched.length <= 16, `${fetched.length} requests: ${fetched}`);
  await person.close();
});

scenario('the editor has little more than the lines that are seen, and is drawn anew only where it was away', async (t) => {
  const projectDir = t.keep(smallProject({ 'long.ts': 'const a = 1;\n'.repeat(5000), 'other.ts': 'const b = 2;\n'.repeat(5000) }));
  const { browser, daemon } = await world(t, { projectDir });
  const person = await Person.at(browser, daemon, { hash: '#/work/long.ts' });
  const { page } = person;
  await person.cursor(2500);
  const lines = await page.evaluate(() => {
    const mirror = document.querySelector('.CodeMirror').CodeMirror;
    window.refreshed = 0;
    mirror.on('refresh', () => (window.refreshed += 1));
    return { drawn: document.querySelectorAll('.CodeMirror-line').length, seen: Math.ceil(mirror.getScrollInfo().clientHeight / mirror.defaultTextHeight()) };
  });
  assert.ok(lines.drawn >= lines.seen && lines.drawn <= lines.seen + 9, JSON.stringify(lines));
  const top = () => page.evaluate(() => document.querySelector('.CodeMirror-scroll').scrollTop);
  const scrolled = await top();
  await person.openFile('other.ts');
  await until('the other file', async () => (await person.text()).startsWith('const b'));
  await person.openFile('long.ts');
  await until('the first file', async () => (await person.text()).startsWith('const a'));
  assert.equal(await top(), scrolled);
  assert.equal(await page.evaluate(() => window.refreshed), 0);
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('table', { name: 'Actions' }).waitFor();
  await page.getByRole('link', { name: 'Work' }).click();
  await page.locator('.CodeMirror-code').getByText('const a = 1;').first().waitFor();
  assert.equal(await top(), scrolled, 'where the reader was');
  assert.equal(await page.evaluate(() => window.refreshed), 1);
  await person.close();
});

scenario('a tab is closed without a session: the next page opens what it left unsaved, and not what was given up', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const first = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  await first.page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  await first.cursor(1);
  await first.page.keyboard.type(' not saved');
  const typed = await first.text();
  await until('the text for Claude', async () => (await buffer(mcp, 'src/greet.ts'))?.content === typed);
  await first.openFile('README.md');
  await first.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  await first.close();

  // Any view may be the first one.
  const next = await Person.at(browser, daemon, { hash: '#/activity' });
  const { page } = next;
  await next.connected();
  await page.getByRole('link', { name: 'Work' }).click();
  await page.locator('.tab').filter({ hasText: 'greet.ts' }).getByText('unsaved').waitFor();
  assert.equal(await page.locator('.tab').count(), 1, 'what was open and saved is not opened');
  assert.equal(await next.text(), typed);
  await page.getByRole('tree', { name: 'Files' }).getByRole('treeitem', { selected: true }).filter({ hasText: 'greet.ts' }).getByText('unsaved').waitFor();
  await next.accessible('what an earlier page left unsaved');
  page.on('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Close src/greet.ts' }).click();
  await page.getByText('No file is open').waitFor();
  await until('nothing unsaved for Claude', async () => (await mcp.ok('paige_get_diff', {})).diffs.length === 0);
  await next.close();

  const last = await Person.at(browser, daemon);
  await last.connected();
  await last.page.getByRole('treeitem').first().waitFor();
  await last.openFile('README.md');
  await last.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  assert.equal(await last.page.locator('.tab').count(), 1);
  await last.close();
});

scenario('what another program changed meanwhile is a conflict for the page that opens unsaved text', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const first = await Person.at(browser, daemon, { hash: '#/work/README.md' });
  await first.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  await first.cursor(1);
  await first.page.keyboard.type(' mine');
  await until('the text for Claude', async () => (await buffer(mcp, 'README.md'))?.content.startsWith('# Greeter mine\n'));
  await first.close();
  fs.writeFileSync(path.join(daemon.projectDir, 'README.md'), '# Theirs\n');
  const next = await Person.at(browser, daemon);
  await next.page.getByText('The file changed on disk').waitFor();
  assert.ok((await next.text()).startsWith('# Greeter mine\n'));
  await next.page.getByRole('button', { name: 'Save' }).click();
  await until('the save is refused', async () => (await next.page.locator('.tab-state.conflict').count()) === 1);
  assert.equal(fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8'), '# Theirs\n');
  await next.close();
});

scenario('a file with unsaved text is deleted on disk: its text stays, the next page offers it, and it is saved anew or given up', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const file = path.join(daemon.projectDir, 'src/greet.ts');
  const unsaved = async () => (await mcp.ok('paige_get_diff', {})).diffs.map((diff) => diff.path);
  const deleted = (page) => page.getByRole('alert').filter({ hasText: 'The file was deleted on disk.' });
  const first = await Person.at(browser, daemon, { hash: '#/work/src/greet.ts' });
  await first.page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  await first.cursor(1);
  await first.page.keyboard.type(' // mine');
  const typed = await first.text();
  await until('the text for Claude', async () => (await buffer(mcp, 'src/greet.ts'))?.content === typed);
  fs.rmSync(path.dirname(file), { recursive: true });
  await deleted(first.page).waitFor();
  assert.equal(await first.text(), typed);
  await first.accessible('a file that was deleted');
  await first.picture('work-deleted');
  await first.page.reload();
  await deleted(first.page).waitFor();
  assert.equal(await first.text(), typed, 'a draft of the same page');
  await first.close();

  const next = await Person.at(browser, daemon);
  const { page } = next;
  await deleted(page).waitFor();
  await page.locator('.tab').filter({ hasText: 'greet.ts' }).getByText('deleted').waitFor();
  assert.equal(await next.text(), typed);
  assert.equal(fs.existsSync(file), false, 'nothing is saved unasked');
  await page.getByRole('button', { name: 'Save' }).click();
  await until('the file with its directory', () => fs.existsSync(file) && fs.readFileSync(file, 'utf8') === typed);
  await deleted(page).waitFor({ state: 'hidden' });
  await page.locator('.CodeMirror-code .cm-keyword').first().waitFor();
  await until('nothing unsaved', async () => (await unsaved()).length === 0);

  await next.cursor(1);
  await page.keyboard.type(' again');
  const again = await next.text();
  await until('the text for Claude', async () => (await buffer(mcp, 'src/greet.ts'))?.content === again);
  fs.rmSync(file);
  await deleted(page).waitFor();
  fs.writeFileSync(file, 'theirs\n');
  await page.getByText('The file changed on disk').waitFor();
  await deleted(page).waitFor({ state: 'hidden' });
  fs.rmSync(file);
  await until('deleted for the file worker', async () => (await buffer(mcp, 'src/greet.ts'))?.conflict === true);
  await next.close();

  const third = await Person.at(browser, daemon);
  await deleted(third.page).waitFor();
  assert.equal(await third.text(), again);
  third.page.on('dialog', (dialog) => dialog.accept());
  await third.page.getByRole('button', { name: 'Close src/greet.ts' }).click();
  await third.page.getByText('No file is open').waitFor();
  await until('nothing unsaved', async () => (await unsaved()).length === 0);
  await third.close();
  const last = await Person.at(browser, daemon);
  await last.connected();
  await last.openFile('README.md');
  await last.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  assert.equal(await last.page.locator('.tab').count(), 1, 'what was given up is not offered');
  await last.close();
});

scenario('the frame of the page is there before any script', async (t) => {
  const { browser, daemon } = await world(t);
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${daemon.url}/`);
  assert.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), ['Work', 'Progress', 'Guards', 'Activity', 'System']);
  assert.equal(await page.getByRole('status').textContent(), 'Connecting');
  await context.close();
});
