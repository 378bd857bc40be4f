// chroma.mjs - a stand-in for a Chroma server: as much of version 2 of its API as Paige uses.
import { randomUUID } from 'node:crypto';
import http from 'node:http';

const COLLECTIONS = '/api/v2/tenants/default_tenant/databases/default_database/collections';

export class Chroma {
  /** `batch`: how many records it takes in one request. */
  constructor(batch) {
    this.collections = new Map(); // id -> {id, name, request, records: [{id, embedding, document, metadata}]}
    this.requests = []; // {verb, body}
    this.batch = batch;
    this.refuse = () => 0; // (verb, body) => a status other than 0
  }

  static async start(batch = 100) {
    const chroma = new Chroma(batch);
    await chroma.up();
    return chroma;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens, on the same port each time. */
  async up() {
    this.server = http.createServer((request, response) => this.#take(request, response));
    await new Promise((resolve, reject) => this.server.once('error', reject).listen(this.port ?? 0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
  }

  async down() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get records() {
    return [...this.collections.values()].flatMap(({ records }) => records);
  }

  of(verb) {
    return this.requests.filter((request) => request.verb === verb).map(({ body }) => body);
  }

  async #take(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = parts.length ? JSON.parse(Buffer.concat(parts).toString('utf8')) : null;
    const verb = request.url.split('/').pop();
    this.requests.push({ verb, body });
    const status = this.refuse(verb, body);
    const [code, answer] = status ? [status, { error: 'refused' }] : this.#answer(request.url, verb, body);
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #answer(url, verb, body) {
    if (url === '/api/v2/pre-flight-checks') return [200, { max_batch_size: this.batch }];
    if (url === COLLECTIONS) return [200, this.#collection(body)];
    const collection = this.collections.get(url.slice(COLLECTIONS.length + 1).split('/')[0]);
    if (!collection) return [404, { error: 'NotFoundError' }];
    if (verb === 'add') return this.#add(collection, body);
    const fitting = collection.records.filter(({ metadata }) => Object.entries(body.where ?? {}).every(([name, value]) => metadata[name] === value));
    if (verb === 'get') return [200, { ids: fitting.map(({ id }) => id) }];
    const found = fitting.slice(0, body.n_results);
    return [200, { ids: [found.map(({ id }) => id)], documents: [found.map((r) => r.document)], metadatas: [found.map((r) => r.metadata)], distances: [found.map(() => 0.5)] }];
  }

  #collection(request) {
    const known = [...this.collections.values()].find(({ name }) => name === request.name);
    const collection = known ?? { id: randomUUID(), name: request.name, request, records: [] };
    this.collections.set(collection.id, collection);
    return { id: collection.id, name: collection.name, metadata: collection.request.metadata, dimension: collection.records[0]?.embedding.length ?? null };
  }

  #add(collection, { ids, embeddings, documents, metadatas }) {
    if (!embeddings || ids.length > this.batch) return [422, { error: 'Unprocessable' }];
    for (const [i, id] of ids.entries()) {
      if (collection.records.some((record) => record.id === id)) continue; // as Chroma does
      collection.records.push({ id, embedding: embeddings[i], document: documents[i], metadata: metadatas[i] });
    }
    return [201, {}];
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
