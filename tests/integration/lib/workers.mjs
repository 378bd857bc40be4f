// workers.mjs - the workers of proto/catalogue/workers.def, so that no test has a list of its own.
import fs from 'node:fs';

const rows = fs.readFileSync(new URL('../../../proto/catalogue/workers.def', import.meta.url), 'utf8').split('\n').filter((line) => line.startsWith('WORKER('));

/** Every worker in the order of the table: its name, its stop stage, and the setting that it depends on (null: none). */
const all = rows.map((row) => {
  const [, name, stage, setting] = row.match(/^WORKER\(\w+, "([a-z-]+)", \d+, \d+, (\d+), \d, (?:NULL|"(\w+)"), /) ?? [];
  if (!name) throw new Error(`workers.def has a row of another form: ${row}`);
  return { name, stage: Number(stage), setting: setting ?? null };
});

/** Names of all workers, and of those that run without a setting. */
export const ALL_WORKERS = all.map((worker) => worker.name);
export const WORKERS = all.filter((worker) => !worker.setting).map((worker) => worker.name);

/** WORKERS in the order in which they stop. */
export const STOP_ORDER = all.filter((worker) => !worker.setting).sort((a, b) => a.stage - b.stage).map((worker) => worker.name);
