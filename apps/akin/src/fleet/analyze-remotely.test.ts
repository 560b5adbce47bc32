import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AkinError } from '@akin/domain';
import { type Metrics, sleep } from '@akin/runtime';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { analyzeRemotely, type RemoteConfig } from './analyze-remotely.ts';

const NEVER = new AbortController().signal;
const PICTURE = { bytes: new Uint8Array([1, 2, 3]) };
/** Long enough that no living analyzer counts as hanging, however busy the machine is. */
const TIMES = { probeAfterMilliseconds: 20, probeMilliseconds: 60_000, pauseMilliseconds: 1, maxPauseMilliseconds: 1 };

describe('analyses over HTTP', () => {
  const servers: Server[] = [];
  let metrics: Metrics;
  let lines: Record<string, unknown>[];

  beforeEach(() => {
    metrics = createMetrics();
    lines = [];
  });
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** A server on its own port, or on another address with a given port. */
  async function start(
    handle: RequestListener,
    { host = '127.0.0.1', port = 0, live = healthy }: { host?: string; port?: number; live?: RequestListener } = {},
  ): Promise<{ url: string; port: number }> {
    const server = createServer((request, response) =>
      request.url === '/health/live' ? live(request, response) : handle(request, response),
    );
    servers.push(server);
    await once(server.listen(port, host), 'listening');
    const at = (server.address() as AddressInfo).port;
    return { url: `http://${host}:${at}`, port: at };
  }
  // A request on a kept connection would be tried twice.
  const healthy: RequestListener = (_request, response) => response.setHeader('connection', 'close').end('{}');

  const analyzer =
    (outputs: string): RequestListener =>
    (_request, response) => {
      response.end(JSON.stringify({ outputs }));
    };
  const refusing =
    (status: number, code: string): RequestListener =>
    (_request, response) => {
      response.writeHead(status, { 'retry-after': '7' });
      response.end(JSON.stringify({ error: { msg: `is ${code}`, metadata: ['error-class', code] } }));
    };
  /** Answers no picture, and refuses health checks: no clock decides that it hangs. */
  const startHanging = (asked: RequestListener = () => {}, checked = () => {}) =>
    start(asked, {
      live: (request) => {
        checked();
        request.socket.destroy();
      },
    });

  function remote(urls: readonly string[], more: Partial<RemoteConfig> = {}) {
    const log = createLogger({
      name: 'test',
      level: 'info',
      destination: { write: (line) => lines.push(JSON.parse(line)) },
    });
    const analyze = analyzeRemotely({ urls, log, metrics, times: TIMES, ...more });
    return (signal = NEVER) => analyze(PICTURE, ['color'], { urgent: true, signal });
  }
  const figures = async () => (await metrics.text()).text;
  const codeOf = (error: unknown) => (error instanceof AkinError ? error.code : error);
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await sleep(1, NEVER);
  };

  it('try the next analyzer if one hangs, resets, sends half a response or answers 503', async () => {
    const good = await start(analyzer('good'));
    const broken: Record<string, RequestListener> = {
      resets: (request) => request.socket.resetAndDestroy(),
      half: (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"outputs": "ha', () => response.destroy());
      },
      unreadable: (_request, response) => response.end('<html>'),
      'no object': (_request, response) => response.end('null'),
      unavailable: refusing(503, 'unavailable'),
      'bad gateway': (_request, response) => response.writeHead(502).end(),
      'other key': (_request, response) => response.writeHead(401).end('{}'),
      busy: refusing(429, 'too-many-requests'),
      'broke down': refusing(500, 'internal'),
    };
    const urls = await Promise.all(Object.values(broken).map((handle) => start(handle)));
    for (const { url } of [...urls, await startHanging(), { url: 'http://127.0.0.1:1' }]) {
      const ask = remote([url, good.url], { metrics: createMetrics() });
      expect(await ask()).toEqual({ outputs: 'good' });
    }
  });

  it('take an analyzer for one that hangs if it does not answer a health check in time', async () => {
    const silent = await start(() => {}, { live: () => {} });
    const ask = remote([silent.url], { times: { ...TIMES, probeMilliseconds: 20, pauseMilliseconds: 1e6 } });
    expect(await ask().catch(codeOf)).toBe('unavailable');
    expect(lines).toMatchObject([{ msg: 'leaves out an analyzer', reason: 'it does not answer' }]);
  });

  it('have no time limit while the analyzer lives: a slow picture is slow everywhere', async () => {
    let probes = 0;
    const waiting: (() => void)[] = [];
    const slow = createServer((request, response) => {
      if (request.url === '/health/live') {
        probes++;
        response.end();
      } else waiting.push(() => response.end('{"outputs":"slow"}'));
    }).listen(0, '127.0.0.1');
    servers.push(slow);
    await once(slow, 'listening');
    let others = 0;
    const other = await start(() => others++);
    const asked = remote([`http://127.0.0.1:${(slow.address() as AddressInfo).port}`, other.url])();
    await until(() => probes >= 3);
    for (const give of waiting) give();
    expect([await asked, others]).toEqual([{ outputs: 'slow' }, 0]);
  });

  it('are not tried elsewhere after an analyzer has said what is wrong with the picture', async () => {
    let others = 0;
    const other = await start(() => others++);
    for (const [status, code] of [
      [415, 'unsupported-image'],
      [422, 'image-undecodable'],
      [413, 'too-large'],
      [400, 'bad-request'],
    ] as const) {
      const { url } = await start(refusing(status, code));
      const error = await remote([url, other.url], { metrics: createMetrics() })().catch((error) => error);
      expect([error.code, error.message]).toEqual([code, `is ${code}`]);
    }
    expect(others).toBe(0);
  });

  it('with a model go to an analyzer that has it, and are refused only if no analyzer has it', async () => {
    const lacks =
      (message: string): RequestListener =>
      (_request, response) => {
        response.writeHead(409);
        response.end(JSON.stringify({ error: { msg: message, metadata: ['error-class', 'conflict'] } }));
      };
    const [one, two] = [await start(lacks('The model m:1 is not here.')), await start(lacks('It needs a package.'))];
    const good = await start(analyzer('good'));
    const busy = await start(refusing(429, 'too-many-requests'));
    const ask = (...urls: { url: string }[]) => {
      const log = createLogger({ name: 'test', level: 'silent', destination: { write: () => {} } });
      const analyze = analyzeRemotely({
        urls: urls.map(({ url }) => url),
        log,
        metrics: createMetrics(),
        times: TIMES,
      });
      return analyze(PICTURE, ['content'], { urgent: true, model: 'm:1' }).catch((error: AkinError) => [
        error.code,
        error.message,
      ]);
    };
    expect(await ask(one, two, good)).toEqual({ outputs: 'good' });
    expect(await ask(one, two)).toEqual([
      'conflict',
      expect.stringMatching(
        /^No analyzer can use the content model m:1\. Their responses: .*is not here\..*needs a package\..*akin models pull/,
      ),
    ]);
    expect(await ask(one, busy)).toEqual(['too-many-requests', 'is too-many-requests']);
    expect(await ask(one, { url: 'http://127.0.0.1:1' })).toEqual(['unavailable', expect.any(String)]);
  });

  it('leave out an analyzer that hangs, or fails three times in a row, and log it', async () => {
    let hung = 0;
    let failed = 0;
    const hanging = await startHanging(() => hung++);
    const failing = await start((request) => {
      failed++;
      request.socket.destroy();
    });
    const good = await start(analyzer('good'));
    const ask = remote([hanging.url, failing.url, good.url], { times: { ...TIMES, pauseMilliseconds: 1e6 } });
    for (let i = 0; i < 30; i++) expect(await ask()).toEqual({ outputs: 'good' });
    expect([hung, failed]).toEqual([1, 3]);
    const text = await figures();
    expect(text).toContain(`akin_analyzer_circuit_open{analyzer="127.0.0.1:${hanging.port}"} 1`);
    expect(text).toContain(`akin_analyzer_circuit_open{analyzer="127.0.0.1:${good.port}"} 0`);
    expect(lines.map(({ msg, analyzer }) => [msg, analyzer]).sort()).toEqual(
      [hanging, failing].map(({ port }) => ['leaves out an analyzer', `127.0.0.1:${port}`]).sort(),
    );
  });

  it('use an analyzer again that answers a health check, and leave it out again at its first failure', async () => {
    let works = false;
    let asked = 0;
    const shaky = await start((_request, response) => {
      asked++;
      if (works) response.end('{"outputs":"shaky"}');
      else response.writeHead(502).end();
    });
    const good = await start(analyzer('good'));
    const ask = remote([shaky.url, good.url], { times: { ...TIMES, pauseMilliseconds: 1, maxPauseMilliseconds: 1 } });
    const countLogged = (msg: string) => lines.filter((line) => line.msg === msg).length;
    await until(async () => (await ask()) && countLogged('leaves out an analyzer') === 1);
    expect(asked).toBe(3);
    // Its health check always answers.
    await until(async () => (await ask()) && countLogged('leaves out an analyzer') === 2);
    expect(asked).toBe(4);
    expect(countLogged('uses an analyzer again')).toBeGreaterThan(0);
    works = true;
    await until(async () => (await ask()).outputs === 'shaky');
    expect(await figures()).toContain(`akin_analyzer_circuit_open{analyzer="127.0.0.1:${shaky.port}"} 0`);
  });

  it('keep leaving out a dead analyzer: no client waits for it again', async () => {
    let asked = 0;
    let checks = 0;
    const hanging = await startHanging(
      () => asked++,
      () => checks++,
    );
    const good = await start(analyzer('good'));
    const ask = remote([hanging.url, good.url]);
    await until(async () => (await ask()).outputs === 'good' && checks > 5);
    expect(asked).toBe(1);
  });

  it('ask one in turn if all are left out, so that they are found when they come back', async () => {
    let works = false;
    let asked = 0;
    const only = await start((request, response) => {
      asked++;
      if (works) response.end('{"outputs":"back"}');
      else request.socket.destroy();
    });
    const ask = remote([only.url], { times: { ...TIMES, pauseMilliseconds: 1e6, maxPauseMilliseconds: 1e6 } });
    for (let i = 0; i < 5; i++) expect(await ask().catch(codeOf)).toBe('unavailable');
    expect(asked).toBe(5);
    works = true;
    expect(await ask()).toEqual({ outputs: 'back' });
  });

  it('treat each address of a host name as a separate analyzer', async () => {
    const { port } = await start(analyzer('first'));
    await start(analyzer('second'), { host: '127.0.0.2', port });
    await start((request) => request.socket.destroy(), { host: '127.0.0.3', port });
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
    };
    const ask = remote([`http://analyzer:${port}`], {
      resolve,
      times: { ...TIMES, pauseMilliseconds: 1e6 },
    });
    const outputs = [];
    for (let i = 0; i < 12; i++) outputs.push((await ask()).outputs);
    expect(new Set(outputs)).toEqual(new Set(['first', 'second']));
    expect([new Set(asked), lines.map(({ analyzer }) => analyzer)]).toEqual([
      new Set(['analyzer']),
      [`127.0.0.3:${port}`],
    ]);
  });

  it('answer 503 with Retry-After if a name cannot be resolved, and end with their caller', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    const unknown = await remote(['http://analyzer:1'], { resolve })().catch((error) => error);
    expect([unknown.code, unknown.retryAfterSeconds]).toEqual(['unavailable', 2]);
    const stop = new AbortController();
    const slow = await start(() => stop.abort(new Error('enough')));
    await expect(remote([slow.url], { metrics: createMetrics() })(stop.signal)).rejects.toThrow('enough');
  });
});
