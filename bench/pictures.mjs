// Measures the peak memory of `akin serve` and of `akin analyze-node --threads 1` while many large pictures come at
// once: `node bench/pictures.mjs`. The peak is VmHWM of /proc/<pid>/status. Each row has a separate process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drawLargeImage } from '@akin/testing';
import { createDatabase } from './lib/engines.mjs';
import { printTable } from './lib/figures.mjs';
import { megabytes, peakBytes, printMachine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';

const PROGRAM = fileURLToPath(new URL('bin/akin.mjs', import.meta.resolve('akin-search/package.json')));
const options = readOptions({
  kinds: 'jpeg,progressive-jpeg,png-16',
  ways: 'sent,fetched,bulk',
  processes: 'serve,analyze-node',
  count: '80',
  side: '7000',
  flags: '',
  variables: '',
});

printMachine();
const rows = [['process', 'pictures', 'file', 'way', 'at rest', 'peak', 'seconds', 'ends']];
for (const kind of options.kinds.split(',')) {
  const picture = await drawLargeImage(kind, Number(options.side));
  const server = createServer((_request, response) => response.end(picture)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/picture`;
  for (const name of options.processes.split(',')) {
    for (const way of options.ways.split(',')) {
      if (way === 'bulk' && name !== 'serve') continue;
      const akin = await start(name);
      // The first picture loads the networks.
      await ask(akin.url, await smallPicture());
      const rest = peakBytes(akin.pid);
      const from = performance.now();
      const ends = way === 'bulk' ? await index(akin.url, url) : await askAtOnce(akin.url, way, picture, url);
      rows.push([
        name,
        `${options.count} ${kind}`,
        megabytes(picture.length),
        way,
        megabytes(rest),
        megabytes(peakBytes(akin.pid)),
        ((performance.now() - from) / 1000).toFixed(0),
        ends,
      ]);
      console.log(rows.at(-1).join(' | '));
      await akin.stop();
    }
  }
  server.closeAllConnections();
  server.close();
}
printTable(`Peak memory (VmHWM), ${options.side} x ${options.side} pixels`, rows);

async function start(name) {
  const database = name === 'serve' ? await createDatabase('pglite') : undefined;
  const flags = name === 'serve' ? ['--no-demo', '--no-open', ...database.args] : ['--threads', '1'];
  const more = options.flags.split(' ').filter(Boolean);
  const variables = Object.fromEntries(
    options.variables
      .split(' ')
      .filter(Boolean)
      .map((one) => one.split('=')),
  );
  const child = spawn(process.execPath, [PROGRAM, name, '--port', '0', ...flags, ...more], {
    env: { ...process.env, AKIN_ALLOW_LOOPBACK_IMAGES: 'true', AKIN_LOG_LEVEL: 'warn', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let said = '';
  const url = await new Promise((resolve, reject) => {
    exit.then(() => reject(new Error(`akin ${name} ended: ${said}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /answers at (http:\S+?)\/?\s/.exec(said);
      if (found) resolve(found[1]);
    });
  });
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await exit;
      await database?.close();
    },
  };
}

async function smallPicture() {
  return { 'input.data': (await drawLargeImage('jpeg', 400)).toString('base64') };
}

/** Analyzes one picture. It repeats the request while akin responds with 429. */
async function ask(base, parameters) {
  const body = new URLSearchParams(parameters).toString();
  for (;;) {
    const response = await fetch(`${base}/api/cores/any/analyze`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    await response.text();
    if (response.status !== 429) return response.status;
    await delay(200);
  }
}

async function askAtOnce(base, way, picture, url) {
  const parameters = way === 'sent' ? { 'input.data': picture.toString('base64') } : { 'input.url': url };
  const statuses = await Promise.all(Array.from({ length: Number(options.count) }, () => ask(base, parameters)));
  return counted(statuses);
}

async function index(base, url) {
  const documents = Array.from({ length: Number(options.count) }, (_, i) => ({ id: `${i}`, image: `${url}?${i}` }));
  await fetch(`${base}/api/cores/my-collection/update?async=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(documents),
  });
  for (;;) {
    const { documents: stored = 0, failed = 0 } = await (await fetch(`${base}/api/cores/my-collection`)).json();
    if (stored + failed >= documents.length) return `${stored} stored, ${failed} failed`;
    await delay(200);
  }
}

function counted(statuses) {
  const counts = new Map();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
}
