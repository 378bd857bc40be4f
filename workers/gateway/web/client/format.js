// format.js - times, durations and sizes as people read them.

const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const instantFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/** @param {number | string} at */
function date(at) {
  const value = new Date(at);
  return Number.isNaN(value.getTime()) ? null : value;
}

/**
 * The time of day.
 * @param {number | string} at Unix milliseconds or ISO 8601
 */
export function clock(at) {
  const value = date(at);
  return value ? time.format(value) : 'unknown';
}

/**
 * Day and time.
 * @param {number | string} at
 */
export function moment(at) {
  const value = date(at);
  return value ? day.format(value) : 'unknown';
}

/**
 * The time of day of what was today, and the day besides of what was not.
 * @param {number | string} at
 */
export function lately(at) {
  return new Date(at).toDateString() === new Date().toDateString() ? clock(at) : moment(at);
}

/**
 * Day and time to the second.
 * @param {number | string} at
 */
export function instant(at) {
  const value = date(at);
  return value ? instantFormat.format(value) : 'unknown';
}

/**
 * "3 h 12 min", "45 s".
 * @param {number} ms
 */
export function duration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/**
 * A countdown, mm:ss; from an hour on h:mm:ss, unless it is to have minutes only.
 * @param {number} ms
 * @param {'clock' | 'minutes'} [form]
 */
export function countdown(ms, form = 'clock') {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const pad = (/** @type {number} */ n) => String(n).padStart(2, '0');
  if (form === 'minutes') return `${pad(Math.floor(s / 60))}:${pad(s % 60)}`;
  return s < 3600 ? `${pad(Math.floor(s / 60))}:${pad(s % 60)}` : `${Math.floor(s / 3600)}:${pad(Math.floor((s % 3600) / 60))}:${pad(s % 60)}`;
}

/**
 * "wrong_file" and "wrongFile" as words: "wrong file"; "mcp_tool" as "MCP tool".
 * @param {string} name
 */
export function words(name) {
  return name.replace(/([a-z])(?=[A-Z])/g, '$1 ').replace(/[_-]+/g, ' ').toLowerCase().replace(/\b(mcp|ai)\b/g, (letters) => letters.toUpperCase());
}

/**
 * The same with a capital.
 * @param {string} name
 */
export function title(name) {
  const text = words(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * "1 file", "2 files".
 * @param {number} n
 * @param {string} one
 */
export function count(n, one) {
  return `${n.toLocaleString()} ${one}${n === 1 ? '' : 's'}`;
}

/**
 * A share as percent.
 * @param {number} share 0 to 1
 */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

const DATA_MAX = 400;
/** Names of members whose words say too little. */
const NAMES = /** @type {Record<string, string>} */ ({
  toPath: 'to', fromPath: 'from', textLength: 'characters', charCount: 'characters', charDelta: 'change in characters', previousCharCount: 'characters before', newCharCount: 'characters now',
  delta: 'difference', editCount: 'edits', phaseCount: 'phases', latency: 'took', duration: 'took', start: 'from line', end: 'to line', startLine: 'from line', endLine: 'to line', startCol: 'column', endCol: 'column',
});
/** Members whose values are names, and not what somebody wrote. */
const CODED = new Set(['signal', 'reason', 'reasons', 'messageType', 'status', 'phase', 'step', 'action', 'level', 'previousLevel', 'section_id', 'sectionId']);
/** A number from here on that stands for a time is one since 1970. */
const EPOCH_MS = 1e12;

/** @param {string} name @param {unknown} value @returns {string} */
function valueOf(name, value) {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length ? value.map((one) => valueOf(name, one)).join(', ') : 'none';
  if (typeof value === 'object') return sayings(value, ' ').join(' ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && value >= EPOCH_MS) return clock(value);
  if (typeof value === 'number' && /(Ms|_ms)$/.test(name)) return value < 0 ? 'unknown' : value < 1000 ? `${Math.round(value)} ms` : duration(value);
  if (typeof value === 'number' && name === 'confidence') return percent(value);
  return CODED.has(name) ? words(String(value)) : String(value);
}

/**
 * Each member in words. Ids, which only programs read, are left out.
 * @param {object} data
 * @param {string} between a name and its value
 * @returns {string[]}
 */
function sayings(data, between) {
  return Object.entries(data).filter(([name]) => !/(Id|_id)$/.test(name) || CODED.has(name)).map(([name, value]) => {
    const stem = name.replace(/(At)?(Ms|_ms)$/, '');
    return name === 'path' || name === 'text' ? String(value) : `${NAMES[stem] ?? words(stem)}${between}${valueOf(name, value)}`;
  });
}

/**
 * What an object says, in one line, for people.
 * @param {unknown} data
 */
export function brief(data) {
  const text = data !== null && typeof data === 'object' ? sayings(data, ': ').join(', ') : String(data ?? '');
  return text.length > DATA_MAX ? `${text.slice(0, DATA_MAX)}…` : text;
}
