// hostile.test.mjs - texts that would like to be more than text, in whatever the page shows.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Guard } from '../integration/lib/guard.mjs';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { Person } from './lib/browser.mjs';
import { world } from './lib/world.mjs';

/** Without "/", so that they can be names of files, too. */
const TEXTS = [
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(2)>',
  "' onmouseover='alert(3)",
  '<iframe srcdoc="<script>alert(4)<&sol;script>">',
  '&lt;script&gt;alert(5)&lt;&sol;script&gt; ${alert(6)} {{alert(7)}}',
  'javascript:alert(8)',
  '\u202Egnp.tpircs\u202C\u2066 turned \u2069',
  '`<b>code`',
  'e\u0301\u0301\u0301\u0301 \u{1F469}\u200D\u{1F52C} \uFEFF zero\u200Bwidth',
  `${'long-'.repeat(45)}end`,
];

/** Texts that fit where there are no bounds, with what ends an element. */
const FREE = [...TEXTS, '</p></div></script><script>alert(9)</script>', '```html\n<script>alert(10)</script>\n```', '<!-- \n <style>*{display:none}</style>', '[a](javascript:alert(11)) ![b](x)'];

/** Elements that no text may have made. The page itself has polylines in an svg, and no picture. */
const MADE = 'img, iframe, object, embed, form[action], svg[onload], main script, main style, main link, [onmouseover], [onerror], a[href^="javascript:"], b';

async function clean(person, where) {
  assert.deepEqual(await person.page.evaluate((made) => [...document.querySelectorAll(made)].map((node) => node.outerHTML.slice(0, 200)), MADE), [], where);
  await person.accessible(where);
}

scenario('hostile texts in file names, messages, highlights, phases and the log stay texts', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const names = [...TEXTS.map((text) => `${text}.md`), 'new\nline.md'];
  for (const name of names) fs.writeFileSync(path.join(daemon.projectDir, name), `# ${name}\n`);
  const before = () => (window.alert = (text) => console.error(`alert: ${text}`));
  const person = await Person.at(browser, daemon, { before });
  const { page } = person;
  await person.connected();
  await page.getByRole('button', { name: 'Start session' }).click();
  await page.getByRole('button', { name: 'End session' }).waitFor();

  for (const name of names) {
    await page.evaluate((file) => (location.hash = `#/work/${encodeURIComponent(file)}`), name);
    await page.getByRole('button', { name: `Close ${name}`, exact: true }).waitFor();
  }
  await until('the last one in the editor', async () => (await person.text()) === '# new\nline.md\n');
  await mcp.ok('paige_highlight_lines', { path: 'new\nline.md', start: 1, end: 1, style: 'hint', hoverText: FREE.join('\n') });
  await page.getByRole('note').first().waitFor();
  for (const message of FREE) await mcp.ok('paige_show_message', { message, type: 'hint', anchor: { path: names[0] } });
  await mcp.ok('paige_show_issue_context', { title: TEXTS[0], summary: FREE.join('\n') });
  await mcp.ok('paige_run_coaching_pipeline', { planText: FREE.join('\n'), issueSummary: TEXTS[0] });
  await page.getByRole('region', { name: 'Phases' }).getByRole('listitem').first().waitFor();
  const said = page.getByRole('region', { name: 'Messages' });
  for (const text of TEXTS.filter((one) => !one.startsWith('`'))) await said.getByText(text, { exact: true }).first().waitFor();
  await clean(person, 'work');
  await person.picture('work-hostile');
  for (const view of ['activity', 'progress', 'system']) {
    await page.evaluate((name) => (location.hash = `#/${name}`), view);
    await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor();
    await page.waitForTimeout(500);
    await clean(person, view);
  }
  await person.close();
});

scenario('hostile texts in a kata stay texts', async (t) => {
  const { daemon, browser } = await world(t);
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  const { payload } = await editor.next('session:started');
  const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
  const constraints = FREE.map((title) => ({ title, description: `${title} described`, minLevel: 1 }));
  const attempts = FREE.map((text, i) => ({ code: `${text}\n${FREE.join('\n')}`, review: `${text}\n\n${FREE.join('\n\n')}`, level: 1 + (i % 10), passed: i % 2 === 0, constraints: FREE }));
  await daemon.sql(`INSERT INTO knowledge_gaps (id, session_id, topic, severity, evidence, related_concepts, last_encountered_at) VALUES ('g', '${payload.sessionId}', ${quoted(TEXTS[1])}, 'high', 'x', '[]', '2026-01-01T00:00:00.000Z');
    INSERT INTO kata_specs VALUES ('k', 'g', ${quoted(TEXTS[0])}, ${quoted(FREE.join('\n\n'))}, ${quoted(FREE.join('\n'))}, 'n', ${quoted(JSON.stringify(constraints))}, ${quoted(JSON.stringify(attempts))})`);
  const before = () => (window.alert = (text) => console.error(`alert: ${text}`));
  const person = await Person.at(browser, daemon, { before, hash: '#/progress' });
  const kata = person.page.locator('.kata');
  await kata.locator('> summary').click();
  await kata.locator('.kata-task').getByText('</p></div></script><script>alert(9)</script>').waitFor();
  await kata.getByRole('switch', { name: TEXTS[0], exact: true }).check();
  assert.equal(await kata.getByRole('switch').count(), FREE.length);
  // A box for text has its own line ends, and no end of line of another kind.
  assert.equal(await kata.getByLabel('Your solution').inputValue(), FREE.join('\n'));
  await clean(person, 'a kata');
  await person.picture('kata-hostile');
  await kata.getByText(`Your attempts (${FREE.length})`).click();
  for (const [i, { code }] of attempts.entries()) {
    await kata.getByText(new RegExp(`^Attempt ${i + 1},`)).click();
    const shown = kata.getByRole('group', { name: `What was handed in as attempt ${i + 1}`, exact: true });
    await shown.waitFor();
    assert.equal(await shown.evaluate((node) => node.textContent), code, 'to the letter');
    assert.equal(await shown.evaluate((node) => node.childElementCount), 0, 'one text');
  }
  assert.equal(await kata.locator('.attempt .prose').count(), FREE.length, 'every review is drawn');
  await until('each says what it was made under', async () => (await kata.locator('.attempt').getByText(`Under: ${FREE[0]}`).count()) === FREE.length);
  await clean(person, 'attempts at a kata');
  await person.picture('kata-hostile-attempts');
  await person.close();
});

scenario('hostile texts in the fields of guards stay texts', async (t) => {
  const { daemon, browser } = await world(t);
  const guard = await Guard.create(daemon, 'session-guard', 'one', { timeboxMs: 3600000, codingQuestion: FREE.join('\n') });
  for (const text of FREE) await guard.event({ type: 'question_asked', text });
  const before = () => (window.alert = (text) => console.error(`alert: ${text}`));
  const person = await Person.at(browser, daemon, { before, hash: '#/guards/session-guard/one' });
  await person.page.getByRole('slider').first().waitFor();
  await clean(person, 'a guard');
  await person.close();
});
