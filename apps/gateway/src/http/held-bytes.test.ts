import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ask, createGateway, FORM_BODY, testConfig } from '../../test/start-gateway.ts';
import { HeldBytes } from './held-bytes.ts';

describe('bytes held by all requests', () => {
  it('are limited, but one alone is always taken, and what is released is free again', () => {
    const held = new HeldBytes(100);
    const first = held.open();
    const second = held.open();
    first.raise(150);
    expect(() => second.raise(1)).toThrow('Too many large requests');
    first.raise(120);
    first.raise(160);
    first.release();
    second.raise(60);
    first.raise(40);
    expect(() => first.raise(41)).toThrow('Too many large requests');
    second.release();
    first.raise(41);
  });

  it('are those of requests that are not answered yet: 429 with Retry-After for those that are too many', async () => {
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
    await using gateway = await createGateway(testConfig({ analyze, limits: { parameterBytesHeld: 10_000 } }));
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

  it('are refused in words that a client sees which sends all before it looks', async () => {
    await using gateway = await createGateway(testConfig({ limits: { parameterBytes: 1_000_000 } }));
    const body = `input.data=${'A'.repeat(60_000_000)}`;
    const answer = await sendBlindly(gateway.port, '/api/cores/any/analyze', body);
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*"error"/s);
  });
});

/** Sends all, and only then reads. Chunked, so that the size is not known before. */
async function sendBlindly(port: number, path: string, body: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.pause();
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FORM_BODY['content-type']}\r\n`;
  const sent = `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(sent, () => resolve());
  });
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  socket.destroy();
  return answer;
}
