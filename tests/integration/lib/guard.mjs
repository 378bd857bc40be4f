// guard.mjs - one guard machine over HTTP, as a client that does not give up: a call that no answer came to is sent again with
// the same clientEventId.
import { PATIENCE_MS, brief, sleep } from './wait.mjs';

const AGAIN_MS = 10;

/** {status, json} of a call; json is undefined where the answer is none. */
export async function api(daemon, method, target, body) {
  const answer = await fetch(daemon.url + target, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), connection: 'close' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(10000),
  });
  const text = await answer.text();
  try {
    return { status: answer.status, json: JSON.parse(text), text };
  } catch {
    return { status: answer.status, text };
  }
}

/** The same, sent until somebody answers who is in a position to. */
export async function insist(daemon, method, target, body) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    let last;
    try {
      last = await api(daemon, method, target, body);
      if (![502, 503, 504].includes(last.status)) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`no answer to ${method} ${target}: ${brief(last)}`);
    await sleep(AGAIN_MS);
  }
}

export class Guard {
  constructor(daemon, kind, id) {
    Object.assign(this, { daemon, kind, id, path: `/guards/${kind}/${id}` });
  }

  static async create(daemon, kind, id, config) {
    const answer = await api(daemon, 'POST', `/guards/${kind}`, { id, config });
    if (answer.status !== 201) throw new Error(`create ${kind}: ${answer.status} ${answer.text}`);
    return new Guard(daemon, kind, id);
  }

  post(event) {
    return insist(this.daemon, 'POST', `${this.path}/events`, event);
  }

  async event(event) {
    const answer = await this.post(event);
    if (answer.status !== 200) throw new Error(`${brief(event)}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  async get() {
    return (await insist(this.daemon, 'GET', this.path)).json;
  }

  /** Rows as they are stored. */
  rows() {
    return this.daemon.sql(
      `SELECT seq, at, actor, type, payload FROM rows JOIN streams ON number = stream WHERE kind = '${this.kind}' AND id = '${this.id}' ORDER BY seq`,
      'guard.db',
    );
  }
}
