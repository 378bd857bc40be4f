// raw-websocket.mjs - a WebSocket client made of bytes, to send what no library lets one send.
import crypto from 'node:crypto';
import net from 'node:net';
import { until } from './wait.mjs';

export const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10, MORE = 0;

/** The bytes of one frame. options: fin, rsv, masked, opcode, form (126 or 127: the longer forms of the length). */
export function frame(opcode, payload = '', { fin = true, rsv = 0, masked = true, form } = {}) {
  const data = Buffer.from(payload);
  const kind = form ?? (data.length < 126 ? 0 : data.length < 65536 ? 126 : 127);
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode, (masked ? 0x80 : 0) | (kind || data.length)];
  const length = Buffer.alloc(kind === 127 ? 8 : kind === 126 ? 2 : 0);
  if (kind === 127) length.writeBigUInt64BE(BigInt(data.length));
  else if (kind === 126) length.writeUInt16BE(data.length);
  if (!masked) return Buffer.concat([Buffer.from(head), length, data]);
  const key = crypto.randomBytes(4);
  const hidden = Buffer.from(data.map((byte, i) => byte ^ key[i % 4]));
  return Buffer.concat([Buffer.from(head), length, key, hidden]);
}

export const closeFrame = (code, reason = '') => {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return frame(CLOSE, Buffer.concat([head, Buffer.from(reason)]));
};

export class RawWebSocket {
  /**
   * Connects and shakes hands. `behind` are bytes sent in the same packet as the request; `keep` is how much of a payload is kept;
   * `pongs` says whether pings are answered.
   */
  static async open(daemon, { behind = Buffer.alloc(0), headers = [], keep = Infinity, pongs = false } = {}) {
    const raw = new RawWebSocket();
    Object.assign(raw, { keep, pongs });
    raw.socket = net.connect(daemon.port, '127.0.0.1');
    raw.received = Buffer.alloc(0);
    [raw.pieces, raw.waiting, raw.wanted] = [[], 0, 0];
    raw.frames = []; // {fin, opcode, length, payload}
    raw.ended = false;
    raw.socket.on('data', (data) => raw.#take(data));
    for (const event of ['end', 'close', 'error']) raw.socket.on(event, () => (raw.ended = true));
    raw.socket.write(
      Buffer.concat([
        Buffer.from(
          [
            'GET /ws HTTP/1.1', `Host: 127.0.0.1:${daemon.port}`, 'Upgrade: websocket', 'Connection: keep-alive, Upgrade',
            'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...headers, '', '',
          ].join('\r\n'),
        ),
        behind,
      ]),
    );
    await until('the handshake is answered', () => raw.head || raw.ended, { every: 5 });
    return raw;
  }

  #take(data) {
    // Large frames come in many pieces: they are put together when there is enough.
    this.pieces.push(data);
    this.waiting += data.length;
    if (this.waiting < this.wanted) return;
    this.received = Buffer.concat([this.received, ...this.pieces]);
    [this.pieces, this.waiting, this.wanted] = [[], 0, 0];
    if (!this.head) {
      const end = this.received.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.head = this.received.subarray(0, end).toString('latin1');
      this.status = Number(this.head.split(' ')[1]);
      this.received = this.received.subarray(end + 4);
    }
    while (this.status === 101 && this.#takeFrame());
  }

  #takeFrame() {
    const b = this.received;
    if (b.length < 2) return false;
    let [length, at] = [b[1] & 0x7f, 2];
    if (length === 126) {
      if (b.length < 4) return false;
      [length, at] = [b.readUInt16BE(2), 4];
    } else if (length === 127) {
      if (b.length < 10) return false;
      [length, at] = [Number(b.readBigUInt64BE(2)), 10];
    }
    if (b.length < at + length) {
      this.wanted = at + length - b.length;
      return false;
    }
    const [opcode, payload] = [b[0] & 15, Buffer.from(b.subarray(at, at + Math.min(length, this.keep)))];
    this.frames.push({ fin: b[0] >> 7 === 1, rsv: (b[0] >> 4) & 7, opcode, masked: b[1] >> 7 === 1, length, payload });
    if (opcode === PING && this.pongs) this.write(frame(PONG, payload));
    this.received = b.subarray(at + length);
    return true;
  }

  write(...frames) {
    this.socket.write(Buffer.concat(frames));
    return this;
  }

  message(type, payload = {}, extra = {}) {
    return this.write(frame(TEXT, JSON.stringify({ type, payload, ...extra })));
  }

  messages() {
    return this.frames.filter((f) => f.opcode === TEXT).map((f) => JSON.parse(f.payload.toString('utf8')));
  }

  async next(type, where = () => true) {
    return until(`a message ${type}`, () => this.messages().find((m) => m.type === type && where(m)) ?? (this.closing() !== null && Promise.reject(new Error(`closed with ${this.closing()}`))), { every: 5 });
  }

  /** The code of the close frame that was received, 1005 without one; null when there is none. */
  closing() {
    const found = this.frames.find((f) => f.opcode === CLOSE);
    if (!found) return null;
    return found.payload.length < 2 ? 1005 : found.payload.readUInt16BE();
  }

  /** Waits for the close frame and the end of the connection, and gives the code. */
  async closed() {
    await until('the connection ends', () => this.ended, { every: 5 });
    return this.closing();
  }

  destroy() {
    this.socket.destroy();
  }
}
