import { get, type IncomingMessage } from 'node:http';
import { expect, it } from '@jest/globals';
import { serveAkin, temporaryFolder } from './akin.ts';

it('400 open connections to many collections cause no warning', async () => {
  const { folder, remove } = await temporaryFolder();
  const akin = await serveAkin(['--no-demo', '--threads', '1', '--data', folder]);
  try {
    const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const at = (name: string) => `${akin.url}/api/cores/${name}`;
    for (const name of names) expect((await fetch(at(name), { method: 'PUT' })).status).toBe(201);
    const streams = await Promise.all(
      Array.from({ length: 400 }, (_, i) => opened(`${at(names[i % 20] as string)}/operations/stream`)),
    );
    const update = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"1"}' };
    for (const name of names) expect((await fetch(`${at(name)}/update?commit=true`, update)).status).toBe(200);
    for (const stream of streams) stream.destroy();
  } finally {
    const { err } = await akin.command.stop();
    await remove();
    expect(err).toBe('');
  }
});

/** A stream that has sent the state of its collection. */
function opened(address: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        if (text.includes('event: status')) resolve(response);
      });
      response.on('end', () => reject(new Error(`${response.statusCode}: ${text}`)));
      response.on('error', () => {});
    }).on('error', reject);
  });
}
