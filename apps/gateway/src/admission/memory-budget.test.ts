import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ask, createGateway, FORM_BODY, testConfig } from '../../test/start-gateway.ts';
import { MemoryBudget } from './memory-budget.ts';

const FOR_EVER = new AbortController().signal;

describe('bytes of all requests in memory', () => {
  it('are limited, but a single request is always accepted, and released bytes are free again', () => {
    const held = new MemoryBudget(100);
    const first = held.open(undefined, FOR_EVER);
    const second = held.open(undefined, FOR_EVER);
    first.growTo(150);
    expect(() => second.growTo(1)).toThrow('Too many large requests');
    first.growTo(120);
    first.growTo(160);
    first.release();
    second.growTo(60);
    first.growTo(40);
    expect(() => first.growTo(41)).toThrow('Too many large requests');
    second.release();
    first.growTo(41);
  });

  it('are limited to a share per client, so that others get some', () => {
    const held = new MemoryBudget(100);
    const [first, second] = [held.open('a', FOR_EVER), held.open('a', FOR_EVER)];
    first.growTo(70);
    expect(() => second.growTo(6)).toThrow('Too many large requests');
    const other = held.open('b', FOR_EVER);
    other.growTo(25);
    second.growTo(5);
    first.release();
    second.growTo(75);
    second.release();
    held.open('a', FOR_EVER).growTo(75);
  });

  it('are not reserved for a request that has ended', () => {
    const held = new MemoryBudget(100);
    const gone = new AbortController();
    const reservation = held.open('a', gone.signal);
    reservation.growTo(50);
    gone.abort(new Error('gone'));
    reservation.release();
    expect(() => reservation.growTo(60)).toThrow('gone');
    held.open('b', FOR_EVER).growTo(100);
    expect(() => held.open('b', FOR_EVER).growTo(1)).toThrow('Too many large requests');
  });

  it('count until the request is answered: further requests get 429 with Retry-After', async () => {
    let entered = () => {};
    let leave = () => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const answered = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const analyze = async () => {
      entered();
      await answered;
      return { outputs: '{}' };
    };
    await using gateway = await createGateway(testConfig({ analyze, limits: { parameterMemoryBytes: 10_000 } }));
    const picture = () =>
      ask(gateway, '/api/cores/any/analyze', { body: `input.data=${'A'.repeat(8_000)}`, headers: FORM_BODY });
    const first = picture();
    await inside;
    const second = await picture();
    expect([second.status, second.headers['retry-after'], second.json.error.metadata]).toEqual([
      429,
      '2',
      ['error-class', 'too-many-requests'],
    ]);
    leave();
    expect((await first).status).toBe(200);
    expect((await picture()).status).toBe(200);
  });

  it('are refused with a response that also a client sees which sends everything before it reads', async () => {
    await using gateway = await createGateway(testConfig({ limits: { parameterBytes: 1_000_000 } }));
    const body = `input.data=${'A'.repeat(60_000_000)}`;
    const response = await sendBlindly(gateway.port, '/api/cores/any/analyze', body);
    expect(response).toMatch(/^HTTP\/1\.1 413 .*"error"/s);
  });
});

/** Sends everything, and only then reads. Chunked, so that the size is not known in advance. */
async function sendBlindly(port: number, path: string, body: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.pause();
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FORM_BODY['content-type']}\r\n`;
  const sent = `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(sent, () => resolve());
  });
  let response = '';
  for await (const chunk of socket) response += String(chunk);
  socket.destroy();
  return response;
}
