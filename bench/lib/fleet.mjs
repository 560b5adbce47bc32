import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createServices, drawImage } from '@akin/testing';
import { collectionUrl } from './akin.mjs';

const PROGRAM = fileURLToPath(new URL('bin/akin.mjs', import.meta.resolve('akin-search/package.json')));
/** Ticks per second in `/proc/<pid>/stat`: Linux counts CPU time in hundredths of a second. */
const TICKS = 100;

/**
 * Starts a fleet as users do, as processes of this machine. It has its own PostgreSQL and Redis if none is given.
 *
 * @param {{ analyzers: number, databaseUrl?: string, redis?: boolean, threads?: number, env?: Record<string, string> }} options
 */
export async function startFleet({ analyzers, databaseUrl, redis = true, threads = 1, env = {} }) {
  const services = createServices({ TEST_DATABASE_URL: databaseUrl });
  const given = {
    DATABASE_URL: await services.postgres(),
    ...(redis ? { REDIS_URL: await services.redis() } : {}),
    AKIN_THREADS: String(threads),
    AKIN_ALLOW_LOOPBACK_IMAGES: '1',
    AKIN_LOG_LEVEL: 'warn',
    ...env,
  };
  const started = [];
  const start = async (args) => {
    const one = await startProcess(args, given);
    started.push(one);
    return one;
  };
  const first = await Promise.all([
    start(['indexer', '--port', '0']),
    ...Array.from({ length: analyzers }, () => start(['analyzer', '--port', '0'])),
  ]);
  const [indexer, ...nodes] = first;
  const gateway = await start(['gateway', '--port', '0', '--analyze-url', nodes.map(({ url }) => url).join(',')]);
  for (const { url } of started) await untilReady(url);
  return {
    gateway,
    indexer,
    analyzers: nodes,
    databaseUrl: given.DATABASE_URL,
    url: gateway.url,
    collectionUrl: collectionUrl(gateway.url, 'my-collection'),
    async stop() {
      for (const one of started.reverse()) await one.stop();
      await services[Symbol.asyncDispose]();
    },
  };
}

/** Starts one process of a fleet. */
export async function startProcess(args, env) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`akin ${args[0]} ended: ${said}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /answers at (http:\S+?)\/?\s/.exec(said);
      if (found) resolve(found[1]);
    });
  });
  return {
    url,
    pid: child.pid,
    cpuSeconds: () => cpuSeconds(child.pid),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

export async function untilReady(url) {
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * CPU time (user and system) of all threads of a process and of its ended children. Works only on Linux.
 *
 * @param {number | string} pid
 */
function cpuSeconds(pid) {
  return statOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / TICKS, 0);
}

/** The fields of `/proc/<pid>/stat` from the state on. */
function statOf(pid) {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
}

/**
 * CPU time of this process and of all its descendants. Servers that the fleet did not start itself are left out. Works
 * only on Linux.
 */
export function cpuSecondsOfAll() {
  const parents = new Map();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      parents.set(pid, statOf(pid)[1]);
    } catch {
      // The process has just ended.
    }
  }
  const isOurs = (pid) => pid === String(process.pid) || (parents.has(pid) && isOurs(parents.get(pid)));
  return [...parents.keys()].filter(isOurs).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

/**
 * Serves drawn pictures at any address, in turns, from this process.
 *
 * @param {{ width: number, height: number }} size
 */
export async function servePictures({ width, height }, different = 16) {
  const pictures = await Promise.all(
    Array.from({ length: different }, (_, i) => drawImage({ width, height, seed: i + 1 })),
  );
  let turn = 0;
  const server = createServer((_request, response) => response.end(pictures[turn++ % pictures.length]));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    pictures,
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sends documents whose pictures have to be analyzed, and does not wait for the analyses. */
export async function sendPictures(collection, pictures, count, prefix = 'p') {
  for (let from = 0; from < count; from += 10_000) {
    const documents = Array.from({ length: Math.min(10_000, count - from) }, (_, i) => ({
      id: `${prefix}${from + i}`,
      image: `${pictures.url}/${prefix}${from + i}.jpg`,
    }));
    const response = await fetch(`${collection}/update?async=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(documents),
    });
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  }
}

/** The value of a metric of a process, as the sum over its labels. */
export async function figureOf({ url }, name, labels = '') {
  const text = await (await fetch(`${url}/metrics`)).text();
  let sum = 0;
  for (const line of text.split('\n')) {
    if ((line.startsWith(`${name}{`) && line.includes(labels)) || (labels === '' && line.startsWith(`${name} `))) {
      sum += Number(line.slice(line.lastIndexOf(' ') + 1));
    }
  }
  return sum;
}
