// markdown.test.mjs - what becomes of texts of Claude, in the page's own module.
import assert from 'node:assert/strict';
import { scenario } from '../integration/lib/scenario.mjs';
import { launch, Person } from './lib/browser.mjs';

/** A text and the elements that it becomes. */
const CASES = [
  ['one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
  ['**bold**, *em*, _em_, __bold__, ***both***, ~~gone~~', '<p><strong>bold</strong>, <em>em</em>, <em>em</em>, <strong>bold</strong>, <strong><em>both</em></strong>, <del>gone</del></p>'],
  ['**a *b* `*c*`** d', '<p><strong>a <em>b</em> <code>*c*</code></strong> d</p>'],
  ['snake_case_name, 2 * 3 * 4, a ** b, _x, y_ z', '<p>snake_case_name, 2 * 3 * 4, a ** b, <em>x, y</em> z</p>'],
  ['\\*not\\* \\[a](http://b.c) C:\\new', '<p>*not* [a](<a>http://b.c</a>) C:\\new</p>'],
  ['`` a ` b `` and `open', '<p><code>a ` b</code> and `open</p>'],
  ['# One\ntext\n## Two ##\nC# and #3', '<p>One</p><p>text</p><p>Two</p><p>C# and #3</p>'],
  ['- a\n- b\n  - c\n  - d\n\n    more of d\n- e\nafter', '<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li><li><p>d</p><p>more of d</p></li></ul></li><li><p>e\nafter</p></li></ul>'],
  ['3. a\n4. b\n  - c\n\nend', '<ol start="3"><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul></li></ol><p>end</p>'],
  ['Do:\n1. a\n\n   ```ts\n   x\n     y\n   ```\n2. b', '<p>Do:</p><ol><li><p>a</p><pre><code>x\n  y</code></pre></li><li><p>b</p></li></ol>'],
  ['It was\n1986. A year\n- and an item', '<p>It was\n1986. A year</p><ul><li><p>and an item</p></li></ul>'],
  ['> a\n> > b\n\nc', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>'],
  ['a\n\n---\n\n* * *', '<p>a</p><hr><hr>'],
  ['~~~\n```\n~~~~\nafter', '<pre><code>```</code></pre><p>after</p>'],
  ['```\nnever closed <b>', '<pre><code>never closed &lt;b&gt;</code></pre>'],
  ['``` a ``` b', '<p><code>a</code> b</p>'],
  ['[the docs](https://example.org/a_b?c=1&d=2) and https://example.org/x_y_z.', '<p><a>the docs</a> (example.org) and <a>https://example.org/x_y_z</a>.</p>'],
  ['[a](javascript:alert(1)) [b](data:text/html,x) [c](//d.e) [f](#/work) <https://g.h>', '<p>[a](javascript:alert(1)) [b](data:text/html,x) [c](//d.e) [f](#/work) &lt;<a>https://g.h</a>&gt;</p>'],
  ['![picture](https://e.f/x.png) http://% &lt; &amp;', '<p>!<a>picture</a> (e.f) http://% &amp;lt; &amp;amp;</p>'],
  ['<b onclick="x">*a*</b>\n<script>\nalert(1)\n</script>', '<p>&lt;b onclick="x"&gt;<em>a</em>&lt;/b&gt;\n&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>'],
  ['a | b\n--- | :-:\n`x` | **y**\n1 | 2 | 3\nonly\n\nafter', '<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>x</code></td><td><strong>y</strong></td></tr><tr><td>1</td><td>2</td></tr><tr><td>only</td><td></td></tr></tbody></table></div><p>after</p>'],
  ['The table:\n|   | a\\|b |\n|---|---|\n| <b> | [c](javascript:d) |\n- item', '<p>The table:</p><div><table><thead><tr><td></td><th>a|b</th></tr></thead><tbody><tr><td>&lt;b&gt;</td><td>[c](javascript:d)</td></tr></tbody></table></div><ul><li><p>item</p></li></ul>'],
  ['| one |\n|-|', '<div><table><thead><tr><th>one</th></tr></thead><tbody></tbody></table></div>'],
  ['> a | b\n> -|-\n> c | d', '<blockquote><div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>c</td><td>d</td></tr></tbody></table></div></blockquote>'],
  ['a | b\nc | d\n\na | b\n---|---|---\n\na || b\n| |', '<p>a | b\nc | d</p><p>a | b\n---|---|---</p><p>a || b\n| |</p>'],
  [`${'a|'.repeat(31)}\n${'-|'.repeat(31)}`, `<p>${'a|'.repeat(31)}\n${'-|'.repeat(31)}</p>`],
  ['a\r\nb\rc', '<p>a\nb\nc</p>'],
  ['', ''],
];

/** Texts at which a parser may take long, each as long as is read at all. */
const SLOW = ['>', '> ', '- ', '1. ', '*a ', ' a*', '*', '**a *b `c` ', '_a_', '__a ', '~~a ', '[', '[](', '[a](http://', '[a', '`a ', '``', '\\', '# ', '#', '-\t', '- - ', 'http://', 'http://%', 'http://a.', '<a ', '&', '~~~', '   ', '\n- ', '\n\n', '\n> ', '```\n', 'é', '***a', '_(', 'a_ ', '|', '| ', '|a', '-|', '\\|', '|-|\n', '|a|\n|-|\n', 'a|b\n-|-\n\n', '> |a|\n> |-|\n'];
/** Beginnings, each with a piece that is repeated behind it. */
const SLOW_AFTER = [[`${'a|'.repeat(30)}\n${'-|'.repeat(30)}\n`, 'x\n'], [`${'a|'.repeat(30)}\n${'-|'.repeat(30)}\n`, '|*a*'], ['a|b\n-|-', ' '], ['a|b\n', '-|'], ['a|b\n-|-\n', '|'], ['a|b\n-|-\n', '\\|']];
const LENGTH = 65536;
const LONG_MS = 1500;

async function moduleIn(t) {
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, await t.daemon(), { hash: '#/activity' });
  await person.page.evaluate(async () => {
    const { prose } = await import(document.querySelector('script[type=module]').src.replace('main.js', 'markdown.js'));
    window.prose = prose;
  });
  return person;
}

scenario('Markdown becomes elements, and nothing else does', async (t) => {
  const person = await moduleIn(t);
  const made = await person.page.evaluate((texts) => {
    // Without what is for looks and for screen readers.
    const bare = (root) => {
      for (const node of root.querySelectorAll('*')) for (const { name } of [...node.attributes]) if (name !== 'start') node.removeAttribute(name);
      for (const node of root.querySelectorAll('span')) node.replaceWith(...node.childNodes);
      return root.innerHTML;
    };
    return texts.map((text) => bare(window.prose(text)));
  }, CASES.map(([text]) => text));
  for (const [i, [text, wanted]] of CASES.entries()) assert.equal(made[i], wanted, text);
  const links = await person.page.evaluate(() => [...window.prose('[a](https://b.c/d) <http://e.f> [j](JavaScript:x) [v](vbscript:x)').querySelectorAll('a')].map((a) => [a.protocol, a.target, a.rel, a.href]));
  assert.deepEqual(links, [['https:', '_blank', 'noopener noreferrer', 'https://b.c/d'], ['http:', '_blank', 'noopener noreferrer', 'http://e.f/']]);
  const aligned = await person.page.evaluate(() => {
    const root = document.body.appendChild(window.prose('a|b|c|d\n-|:-|:-:|-:\n1|2|3|4'));
    return [...root.querySelectorAll('th, td')].map((cell) => getComputedStyle(cell).textAlign);
  });
  assert.deepEqual(aligned, ['left', 'left', 'center', 'right', 'left', 'left', 'center', 'right']);
  await person.close();
});

scenario('no text takes long or makes more elements than a page can bear', async (t) => {
  const person = await moduleIn(t);
  const slow = await person.page.evaluate(({ pieces, length }) => pieces.map(([head, piece]) => {
    const text = head + piece.repeat(Math.floor((length - head.length) / piece.length));
    const began = performance.now();
    const root = window.prose(text);
    let depth = 0;
    for (const node of root.querySelectorAll('*')) for (let [up, n] = [node, 1]; ; [up, n] = [up.parentNode, n + 1]) if (up === root) { depth = Math.max(depth, n); break; }
    return { piece: head + piece, ms: performance.now() - began, elements: root.querySelectorAll('*').length, depth };
  }), { pieces: [...SLOW.map((piece) => ['', piece]), ...SLOW_AFTER], length: LENGTH });
  for (const { piece, ms, elements, depth } of slow) {
    assert.ok(ms < LONG_MS, `${JSON.stringify(piece)} took ${ms.toFixed(0)} ms`);
    assert.ok(elements < 5000, `${JSON.stringify(piece)} became ${elements} elements`);
    assert.ok(depth < 40, `${JSON.stringify(piece)} became ${depth} deep`);
  }
  const beyond = await person.page.evaluate((length) => window.prose(`*a* ${'x'.repeat(length)}`).innerHTML.slice(0, 40), LENGTH);
  assert.equal(beyond, '<p class="text">*a* xxxxxxxxxxxxxxxxxxxx');
  await person.close();
});
