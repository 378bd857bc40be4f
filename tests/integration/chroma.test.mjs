// chroma.test.mjs - memories in a Chroma server: kept and found, and what happens while it is not there.
import { strict as assert } from 'node:assert';
import { Chroma } from './lib/chroma.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const PLAN = { planText: '1. Read greet\n2. Test it', issueSummary: 'greet fails without a name' };
const MEMORIES = { memories: ['first', 'second', 'third'].map((content) => ({ content, tags: ['a,b', 'c'], importance: 'high' })) };

/** A daemon beside a Chroma; Claude's summary is MEMORIES, all else is the script's. */
async function world(t, { up = true, batch = 100 } = {}) {
  const chroma = t.closeLater(await Chroma.start(batch));
  if (!up) await chroma.down();
  const claude = await t.claude();
  claude.disturb = (number, response) => {
    if (!claude.requests[number - 1].body.output_config?.format.schema.properties.memories) return false;
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text: JSON.stringify(MEMORIES) }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    return true;
  };
  const daemon = await t.daemon({ env: { MEMORY: 'chroma', CHROMADB_URL: chroma.url, ANTHROPIC_BASE_URL: claude.url, LLM_RETRY_BASE_MS: '50' } });
  const editor = await t.editor(daemon);
  const mcp = await t.mcp(daemon);
  const begin = async () => {
    editor.send('session:start', { issueNumber: 7 });
    return (await editor.next('session:started')).payload.sessionId;
  };
  const wrapUp = async () => JSON.parse((await mcp.once('paige_end_session', { sessionTranscript: 't' })).text).memoriesStored;
  const warnings = () => daemon.log('llm').split('\n').filter((line) => line.includes('level=warn') && line.includes('ChromaDB'));
  return { chroma, claude, daemon, editor, mcp, begin, wrapUp, warnings };
}

scenario('memories go to Chroma in batches, with ids that go on within their session, and are found there', async (t) => {
  const { chroma, claude, daemon, editor, mcp, begin, wrapUp } = await world(t, { batch: 2 });
  await daemon.says('llm', 'ChromaDB connected');
  const [{ request }] = chroma.collections.values();
  assert.equal(request.name, 'paige_memories');
  assert.equal(request.get_or_create, true);

  const sessionId = await begin();
  assert.equal(await wrapUp(), 3);
  editor.send('session:resume', { sessionId });
  await editor.next('session:resumed');
  assert.equal(await wrapUp(), 3);
  assert.deepEqual(chroma.records.map(({ id }) => id), [0, 1, 2, 3, 4, 5].map((n) => `mem_${sessionId}_${n}`));
  const { created_at, ...metadata } = chroma.records[0].metadata;
  assert.match(created_at, /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(metadata, { session_id: sessionId, project: daemon.projectDir, importance: 'high', tags: 'ab,c' });
  assert.ok(chroma.records[0].embedding.length > 100);

  await begin();
  await mcp.ok('paige_run_coaching_pipeline', PLAN);
  assert.equal(chroma.of('query').at(-1).n_results, 10);
  const filtered = claude.requests.map(({ body }) => body.messages[0].content).find((text) => text.includes('candidate_memories'));
  assert.equal(JSON.parse(filtered).candidate_memories.length, 6);
});

scenario('a Chroma that comes late is found by the next use; one that goes is left out', async (t) => {
  const { chroma, daemon, editor, begin, wrapUp, warnings } = await world(t, { up: false });
  await until('one warning', () => warnings().some((line) => line.includes('ChromaDB unavailable')));
  assert.equal(editor.init.capabilities.chromadb_available, false);
  await begin();
  assert.equal(await wrapUp(), 0, 'nothing is kept, nothing fails');
  assert.equal(warnings().length, 1);

  await chroma.up();
  const [first, second, third] = [await begin(), await wrapUp(), await t.editor(daemon)];
  assert.ok(first);
  assert.equal(second, 3);
  assert.equal(third.init.capabilities.chromadb_available, true);

  chroma.collections.clear(); // somebody has deleted it
  await begin();
  assert.equal(await wrapUp(), 0);
  await begin();
  assert.equal(await wrapUp(), 3, 'it was made anew');
});

scenario('a Chroma that refuses is left out, with one warning and no second try', async (t) => {
  const { chroma, daemon, begin, wrapUp, warnings } = await world(t);
  await daemon.says('llm', 'ChromaDB connected');
  chroma.refuse = (verb) => (verb === 'add' ? 422 : 0);
  await begin();
  assert.equal(await wrapUp(), 0);
  assert.equal(chroma.of('add').length, 1);
  await until('the warning', () => warnings().length > 0);
  assert.equal(warnings().length, 1);
  chroma.refuse = () => 0;
  await begin();
  assert.equal(await wrapUp(), 3);
});
