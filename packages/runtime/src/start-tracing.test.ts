import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiveTraces, type TraceReceiver } from '@akin/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLogger } from './logger.ts';
import { inSpan, openSpan, traceFields, traceHeaders, traceparent, withoutSpan } from './spans.ts';
import { startTracing, type Tracing } from './start-tracing.ts';

/** The end waits for the receiver, however busy the machine is. */
const SERVICE = { service: 'akin test', version: '1.2.3', lastSendingMilliseconds: 600_000 };
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const silent = { warn() {} };

describe('traces', () => {
  let receiver: TraceReceiver;
  let tracing: Tracing | undefined;
  const before = { ...process.env };

  /** The SDK reads the environment of the process by itself. */
  async function start(env: Record<string, string>, log: Pick<Console, 'warn'> = silent, config = SERVICE) {
    Object.assign(process.env, env);
    tracing = await startTracing(config, process.env, log);
  }
  const toReceiver = () => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  async function sent(work: () => Promise<unknown>): Promise<TraceReceiver['spans']> {
    await work();
    await tracing?.end();
    return receiver.spans;
  }

  beforeEach(async () => {
    receiver = await receiveTraces();
  });
  afterEach(async () => {
    await tracing?.end();
    tracing = undefined;
    receiver.close();
    process.env = { ...before };
  });

  it('nest as the work does, and continue the trace of others', async () => {
    await start({ ...toReceiver(), OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' });
    const spans = await sent(() =>
      inSpan('outer', { kind: 'server', parent: PARENT, attributes: { figure: 7, none: undefined } }, async (span) => {
        await inSpan('inner', {}, async () => span.set({ names: ['a', 'b'] }));
      }),
    );
    expect(spans.map(({ name }) => name)).toEqual(['inner', 'outer']);
    const [inner, outer] = spans;
    expect(outer).toMatchObject({
      service: 'akin-test',
      kind: 2,
      traceId: PARENT.split('-')[1],
      parentSpanId: PARENT.split('-')[2],
      attributes: { figure: 7, names: ['a', 'b'] },
      status: 0,
    });
    expect(inner).toMatchObject({ traceId: outer?.traceId, parentSpanId: outer?.spanId });
    expect(String(receiver.bodies[0])).toMatch(/"deployment.environment.name".*"1\.2\.3"/s);
  });

  it('go out as protobuf where nothing else is said', async () => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ann' });
    await sent(() => inSpan('a name', {}, async () => {}));
    expect(receiver.headers()).toMatchObject({ 'content-type': 'application/x-protobuf', 'x-tenant': 'ann' });
    expect(String(receiver.bodies[0])).toContain('a name');
  });

  it('tell of an error its kind, never its text', async () => {
    await start(toReceiver());
    const spans = await sent(async () => {
      const failing = (error: unknown) => inSpan('x', {}, () => Promise.reject(error)).catch(() => {});
      await failing(Object.assign(new Error('secret words'), { code: 'not-found' }));
      await failing(new TypeError('secret words'));
      await failing('secret words');
      await failing(Object.assign(new Error(), { code: 'a code with "secret words"' }));
    });
    expect(spans.map(({ attributes, status }) => [attributes['error.type'], status])).toEqual([
      ['not-found', 2],
      ['TypeError', 2],
      ['_OTHER', 2],
      ['_OTHER', 2],
    ]);
    expect(Buffer.concat(receiver.bodies).includes('secret words')).toBe(false);
  });

  it.each([
    ['nothing of the kind', 'x'],
    ['zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['capitals', PARENT.toUpperCase()],
    ['another length', `00-${'a'.repeat(31)}-b7ad6b7169203331-01`],
    ['the version that is none', PARENT.replace('00-', 'ff-')],
    ['more behind it', `${PARENT}-${'x'.repeat(60_000)}`],
    ['two of them', `${PARENT}, ${PARENT}`],
    ['line breaks', `${PARENT}\n${PARENT}`],
  ])('begin again where the traceparent is %s', async (_, hostile) => {
    await start(toReceiver());
    const [span] = await sent(() =>
      inSpan('x', { parent: hostile, links: [hostile] }, async (one) => one.link(hostile)),
    );
    expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span).toMatchObject({ parentSpanId: '', links: [] });
    expect(span?.traceId).not.toBe(PARENT.split('-')[1]);
  });

  it('cut what is long', async () => {
    await start(toReceiver());
    const [span] = await sent(() => inSpan('x', { attributes: { long: 'y'.repeat(10_000) } }, async () => {}));
    expect(span?.attributes.long).toBe('y'.repeat(200));
  });

  it('are passed to other processes and log lines, but not to separate work', async () => {
    await start(toReceiver());
    const lines: string[] = [];
    const log = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
    await inSpan('x', { parent: PARENT, tracestate: 'a=b' }, async () => {
      const [, trace_id, span_id] = traceparent()?.split('-') ?? [];
      expect(trace_id).toBe(PARENT.split('-')[1]);
      expect(traceHeaders()).toEqual({ traceparent: traceparent(), tracestate: 'a=b' });
      log.info({ n: 1 }, 'within');
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ n: 1, trace_id, span_id });
      expect(withoutSpan(() => [traceparent(), traceFields()])).toEqual([undefined, {}]);
    });
    log.info('outside');
    expect(lines[1]).not.toContain('trace_id');
  });

  it('are off unless the variables ask for them', async () => {
    for (const env of [
      {},
      { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      { OTEL_TRACES_EXPORTER: 'zipkin', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    ]) {
      expect(await startTracing(SERVICE, env, silent)).toBeUndefined();
    }
    expect(openSpan('x', () => ({}))).toBeUndefined();
    expect(await inSpan('x', {}, async () => [traceparent(), traceHeaders(), traceFields()])).toEqual([
      undefined,
      {},
      {},
    ]);
    for (const env of [{ OTEL_TRACES_EXPORTER: 'otlp' }, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: receiver.url }]) {
      const one = await startTracing(SERVICE, env, silent);
      expect(one).toBeDefined();
      await one?.end();
    }
  });

  it('say what they cannot speak', async () => {
    const warnings: object[] = [];
    const env = { ...toReceiver(), OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(await startTracing(SERVICE, env, { warn: (fields) => warnings.push(fields) })).toBeUndefined();
    expect(warnings).toEqual([{ protocol: 'grpc' }]);
  });

  it('are dropped when the receiver refuses them, which is logged once', async () => {
    const warnings: object[] = [];
    await start(
      { ...toReceiver(), OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/elsewhere` },
      {
        warn: (fields: object) => warnings.push(fields),
      },
    );
    for (let i = 0; i < 3; i++) await inSpan('x', {}, async () => {});
    expect(await tracing?.end()).toBe(true);
    expect(warnings).toEqual([{ reason: 'Not Found' }]);
  });

  it('do not delay the end when the receiver does not answer', async () => {
    let refuse = () => {};
    const server = createServer((_, response) => {
      refuse = () => response.writeHead(400).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { ...toReceiver(), OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '600000' };
    try {
      await start(env, silent, { ...SERVICE, lastSendingMilliseconds: 100 });
      await inSpan('x', {}, async () => {});
      expect(await tracing?.end()).toBe(false);
    } finally {
      refuse();
      server.close();
    }
  });

  it('are off where packages that they need are not installed, which is logged', async () => {
    jest.resetModules();
    jest.unstable_mockModule('@opentelemetry/api', () => {
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    });
    const fresh = await import('./start-tracing.ts');
    const warnings: string[] = [];
    const log = { warn: (_: object, message: string) => warnings.push(message) } as Pick<Console, 'warn'>;
    expect(await fresh.startTracing(SERVICE, toReceiver(), log)).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('packages of OpenTelemetry are missing')]);
  });
});
