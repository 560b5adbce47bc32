import { Agent, request as httpRequest, type IncomingMessage, Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ANALYZE, echo } from '../../test/echoing-gateway.ts';
import { ask, createGateway, type Gateway, postJson, testConfig } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

/** A request over kept connections. */
function askOver(agent: Agent, gateway: Gateway, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path, agent }, async (response) => {
      await text(response);
      resolve(response);
    });
    request.on('error', reject).end();
  });
}

/** An analysis that the test ends. */
function heldAnalysis(): { analyze: typeof echo; started: Promise<void>; finish: () => void } {
  let begin = () => {};
  let finish = () => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    started,
    finish: () => finish(),
    analyze: async (...args) => {
      begin();
      await held;
      return echo(...args);
    },
  };
}

const PICTURE = `${ANALYZE}?input.data=aGVsbG8%3D`;
/** As long as orchestrators take to tell all clients. */
const DELAY_MILLISECONDS = 3_000;

/** Leaves last responses, which have half a second otherwise, as much time as a busy machine needs. */
const keepConnections = () => jest.spyOn(Server.prototype, 'closeAllConnections').mockReturnValue();

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('a gateway that shuts down', () => {
  it('is not ready but alive, and still serves over connections that it then closes', async () => {
    const agent = new Agent({ keepAlive: true });
    const ready = async () => {};
    const gateway = await createGateway({
      ...testConfig({ analyze: echo, shutdownDelayMilliseconds: DELAY_MILLISECONDS }),
      store: { ...testConfig().store, ping: ready },
    });
    expect((await askOver(agent, gateway, '/health/ready')).statusCode).toBe(200);
    const kept = await askOver(agent, gateway, PICTURE);
    expect([kept.statusCode, kept.headers.connection]).toEqual([200, 'keep-alive']);
    // Only the clock of the drain stops, so that a busy machine is not too slow for it.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
    const drained = gateway.drain();
    const closed = gateway[Symbol.asyncDispose]();
    const readiness = await ask(gateway, '/health/ready');
    expect([readiness.status, readiness.headers['retry-after']]).toEqual([503, '1']);
    expect((await ask(gateway, '/health/live')).status).toBe(200);
    // Over the existing connection, and over a new one.
    for (let i = 0; i < 2; i++) {
      const response = await askOver(agent, gateway, PICTURE);
      expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    }
    jest.advanceTimersByTime(DELAY_MILLISECONDS);
    await drained;
    await closed;
    await expect(ask(gateway, '/health/live')).rejects.toThrow();
    agent.destroy();
  });

  it('closes the connection of a request that was open at the start of the shutdown, after its response', async () => {
    const { analyze, started, finish } = heldAnalysis();
    const agent = new Agent({ keepAlive: true });
    const gateway = await createGateway(testConfig({ analyze }));
    const open = askOver(agent, gateway, PICTURE);
    await started;
    const closed = gateway[Symbol.asyncDispose]();
    finish();
    const response = await open;
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    await closed;
    agent.destroy();
  });

  it('answers a request that it cannot wait for with 503, instead of closing its connection', async () => {
    const { analyze, started, finish } = heldAnalysis();
    const gateway = await createGateway(
      testConfig({
        limits: { shutdownMilliseconds: 1_000 },
        analyze: (input, modules, options) =>
          Promise.race([
            analyze(input, modules, options),
            new Promise<never>((_, reject) =>
              options.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
            ),
          ]),
      }),
    );
    const open = ask(gateway, PICTURE);
    await started;
    keepConnections();
    await gateway[Symbol.asyncDispose]();
    const response = await open;
    expect([response.status, response.headers['retry-after']]).toEqual([503, '1']);
    expect(response.json.error.msg).toMatch(/send the request again/);
    finish();
  });
});

describe('a gateway with a store that shuts down', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ limits: { shutdownMilliseconds: 1_000 } });
  });
  afterAll(async () => service[Symbol.asyncDispose]());

  it('answers a change that waits for its picture with the news that it is accepted', async () => {
    await service.pause();
    const open = postJson(service.gateway, '/api/cores/my-collection/update?commit=true', {
      id: 'a',
      image: 'http://h.example/a.jpg',
    });
    const accepted = () => service.log.lines.some(({ message }) => message === 'accepted');
    while (!accepted()) await new Promise((resolve) => setTimeout(resolve, 10));
    keepConnections();
    await service.gateway[Symbol.asyncDispose]();
    const response = await open;
    expect(response.status).toBe(503);
    expect(response.json.error.msg).toMatch(
      /^All changes are accepted, but akin is shutting down: follow them at .*\/operations\.$/,
    );
  });
});
