// claude_tls.test.mjs - the confined llm reaches Claude by a name and by TLS: it may read what names are resolved by and the
// certificates of the system, and it has read those of the environment.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { QUESTION } from './lib/project.mjs';
import { scenario, unless } from './lib/scenario.mjs';

/** A name of this machine that libcurl does not know by itself, as it does localhost, or undefined. */
const name = fs.readFileSync('/etc/hosts', 'utf8').split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  .filter(([address]) => /^127\./.test(address)).flatMap((line) => line.slice(1)).find((one) => !/(^|\.)localhost$/.test(one));

function openssl(...args) {
  execFileSync('openssl', args, { stdio: 'ignore' });
}

/** A certificate authority of its own and a certificate of `name` in `dir`. */
function certificates(dir) {
  const at = (file) => path.join(dir, file);
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=Test authority', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  openssl('req', '-new', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', at('key'), '-out', at('request'));
  fs.writeFileSync(at('names'), `subjectAltName=DNS:${name}\n`);
  openssl('x509', '-req', '-in', at('request'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names'), '-out', at('pem'));
  return { authority: at('ca.pem'), key: fs.readFileSync(at('key')), cert: fs.readFileSync(at('pem')) };
}

/** A server of TLS in front of the scripted Claude. */
async function secure(t) {
  const claude = await t.claude();
  const dir = t.directory('certificates');
  const { authority, key, cert } = certificates(dir);
  const server = https.createServer({ key, cert }, (request, response) => claude.server.emit('request', request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.closeLater({ close: () => (server.closeAllConnections(), server.close()) });
  return { claude, authority, env: { ANTHROPIC_BASE_URL: `https://${name}:${server.address().port}`, LLM_MAX_RETRIES: '0', LLM_FLOW_RETRY_MS: '0' } };
}

async function explain(t, daemon) {
  const editor = await t.editor(daemon);
  editor.send('user:explain', QUESTION);
  return editor.next(['explain:response', 'explain:error']);
}

const missing = !name && 'no other name of this machine than localhost in /etc/hosts';
const securely = unless(missing, scenario);

for (const variable of ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS']) {
  securely(`an authority of one's own by ${variable}`, async (t) => {
    const { claude, authority, env } = await secure(t);
    const daemon = await t.daemon({ env: { ...env, [variable]: authority } });
    const answer = await explain(t, daemon);
    assert.equal(answer.type, 'explain:response', JSON.stringify(answer.payload));
    assert.equal(claude.requests.length, 1);
  });
}

securely('without it the authorities of the system are looked at, and none of them knows the server', async (t) => {
  const { claude, env } = await secure(t);
  const daemon = await t.daemon({ env });
  const answer = await explain(t, daemon);
  assert.equal(answer.type, 'explain:error', JSON.stringify(answer.payload));
  assert.match(JSON.stringify(answer.payload), /SSL_CERT_FILE/);
  // Of a file that cannot be read libcurl says "error setting certificate".
  await daemon.says('llm', /SSL certificate problem: (unable to get local issuer|self.signed)/);
  assert.equal(claude.requests.length, 0);
});
