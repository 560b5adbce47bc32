// npm run fleet [-- --analyzers 2 --indexers 1 --port 8983]: prepares the clone, then runs akin as several processes on
// this machine. PostgreSQL and Redis are those of DATABASE_URL and REDIS_URL; a server without an address is started
// for this run.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { endWithNpm, prepare, ROOT } from './prepare.mjs';

const values = readOptions();
const AKIN = `${ROOT}apps/akin/bin/akin.mjs`;
/** A process that ends unexpectedly is started again after this delay in milliseconds, as a supervisor would. */
const RESTART_MILLISECONDS = 1_000;

endWithNpm();
await prepare();
const { createServices } = await import(new URL('../../packages/testing/dist/index.js', import.meta.url).href);
const services = createServices({
  TEST_DATABASE_URL: process.env.DATABASE_URL,
  TEST_REDIS_URL: process.env.REDIS_URL,
});
const [DATABASE_URL, REDIS_URL] = await Promise.all([services.postgres(), services.redis()]);
console.log(`PostgreSQL: ${withoutPassword(DATABASE_URL)}\nRedis: ${withoutPassword(REDIS_URL)}`);
if (!process.env.DATABASE_URL) console.log('This PostgreSQL is for this run alone: its data is deleted at the end.');

const children = new Map();
let stopping = false;
const { port } = values;
const analyzers = Array.from({ length: values.analyzers }, (_, i) => port + 10 + i);
// Analyzers may fetch pictures from this machine too, because the fleet runs here.
const images = ['--allow-loopback-images', '--threads', process.env.AKIN_THREADS ?? '1'];
for (const [i, at] of analyzers.entries()) run(`analyzer-${i + 1}`, ['analyzer', '--port', String(at), ...images]);
for (let i = 0; i < values.indexers; i++) run(`indexer-${i + 1}`, ['indexer', '--port', '0']);
const addresses = analyzers.map((at) => `http://127.0.0.1:${at}`).join(',');
run('gateway', ['gateway', '--port', String(port), '--analyze-url', addresses]);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    if (stopping) return;
    stopping = true;
    for (const child of children.values()) child.kill('SIGTERM');
    await Promise.all([...children.values()].map((child) => new Promise((resolve) => child.once('close', resolve))));
    await services[Symbol.asyncDispose]();
    process.exit(0);
  });
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '8983' },
        analyzers: { type: 'string', default: '2' },
        indexers: { type: 'string', default: '1' },
      },
    });
    const wrong = Object.keys(values).find((name) => !/^[1-9]\d{0,4}$/.test(values[name]));
    if (wrong) throw new Error(`--${wrong} must be a whole number, not ${values[wrong]}`);
    return { port: Number(values.port), analyzers: Number(values.analyzers), indexers: Number(values.indexers) };
  } catch (error) {
    console.error(`${error.message}\nUsage: npm run fleet [-- --analyzers 2 --indexers 1 --port 8983]`);
    process.exit(1);
  }
}

function run(name, args) {
  const child = spawn(process.execPath, [AKIN, ...args], {
    env: { ...process.env, DATABASE_URL, REDIS_URL },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches only this process, which ends the others in order.
    detached: true,
  });
  children.set(name, child);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => console.log(`${name.padEnd(10)} ${line}`));
  }
  child.once('close', (code, signal) => {
    if (stopping) return;
    console.log(`${name.padEnd(10)} ended (${signal ?? code}) and is started again`);
    setTimeout(() => stopping || run(name, args), RESTART_MILLISECONDS);
  });
}

function withoutPassword(url) {
  const safe = new URL(url);
  safe.password = '';
  return safe.href;
}
