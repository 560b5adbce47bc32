import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { AkinError } from '@akin/domain';
import { afterEach, describe, expect, it } from '@jest/globals';
import { drawBlocks, toSharp } from '../test/pictures.ts';
import { type DownloadSettings, downloadImage } from './download.ts';
import { proxyFor } from './proxy.ts';

const policy = { allowLoopback: true, allowPrivate: false };
const picture = await toSharp(drawBlocks(3, 3)).png().toBuffer();

const servers: http.Server[] = [];

async function listen(server: http.Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A host that records the headers of each request. `answer` may redirect; by default it sends the picture. */
async function host(answer: (path: string, response: ServerResponse) => boolean = () => false) {
  const seen: IncomingHttpHeaders[] = [];
  const port = await listen(
    http.createServer((request, response) => {
      seen.push(request.headers);
      if (!answer(request.url ?? '', response)) response.end(picture);
    }),
  );
  return { port, seen };
}

const redirect = (response: ServerResponse, location: string) => {
  response.writeHead(302, { location }).end();
  return true;
};

/** A proxy that records to where it is asked to connect. */
async function proxy(refusal?: number) {
  const asked: { target: string | undefined; login: string | undefined }[] = [];
  const server = http.createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request, socket: net.Socket) => {
    asked.push({ target: request.url, login: request.headers['proxy-authorization'] });
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [, name = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(request.url ?? '') ?? [];
    const target = net.connect(Number(port), name, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    for (const one of [target, socket])
      one.on('error', () => {}).on('close', () => [target, socket].map((both) => both.destroy()));
  });
  return { url: new URL(`http://user:p%40ss@127.0.0.1:${await listen(server)}`), asked };
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const download = (url: string, settings: Omit<DownloadSettings, 'policy'>) =>
  downloadImage(url, { policy, ...settings }).then(
    (bytes) => bytes.length === picture.length,
    (error: unknown) => (error instanceof AkinError ? error.message : error),
  );

const secret = (host: string, port?: string) => ({
  headers: [{ host, ...(port && { port }), name: 'X-Secret', value: 's3cr3t' }],
});

describe('headers of the operator', () => {
  it('name akin, or what the operator says', async () => {
    const { port, seen } = await host();
    await download(`http://127.0.0.1:${port}/`, {});
    await download(`http://127.0.0.1:${port}/`, { userAgent: 'shop (me@example.org)' });
    expect(seen.map((headers) => headers['user-agent'])).toEqual(['akin', 'shop (me@example.org)']);
  });

  it('go to their host, and to its port where one is named', async () => {
    const { port, seen } = await host();
    const url = `http://127.0.0.1:${port}/`;
    for (const [name, only] of [
      ['127.0.0.1'],
      ['127.0.0.1', String(port)],
      ['127.0.0.1', '1'],
      ['localhost'],
    ] as const) {
      await download(url, secret(name, only));
    }
    expect(seen.map((headers) => headers['x-secret'])).toEqual(['s3cr3t', 's3cr3t', undefined, undefined]);
  });

  it('do not follow a redirect to another host or port, and stay on redirects within the host', async () => {
    const other = await host();
    const first = await host((path, response) => {
      if (path === '/name') return redirect(response, `http://localhost:${other.port}/`);
      if (path === '/port') return redirect(response, `http://127.0.0.1:${other.port}/`);
      return path === '/within' && redirect(response, '/picture');
    });
    for (const path of ['name', 'port', 'within']) {
      expect(await download(`http://127.0.0.1:${first.port}/${path}`, secret('127.0.0.1'))).toBe(true);
    }
    expect(first.seen.map((headers) => headers['x-secret'])).toEqual(Array(4).fill('s3cr3t'));
    expect(other.seen.map((headers) => headers['x-secret'])).toEqual([undefined, undefined]);
    await download(`http://127.0.0.1:${first.port}/port`, secret('127.0.0.1', String(other.port)));
    expect(other.seen.at(-1)?.['x-secret']).toBe('s3cr3t');
  });

  it('are not in messages', async () => {
    const { port } = await host((_, response) => Boolean(response.writeHead(403).end('no')));
    expect(await download(`http://127.0.0.1:${port}/`, secret('127.0.0.1'))).toMatch(/status 403\.$/);
  });
});

describe('a proxy', () => {
  it('is asked for the checked address, and the host for its name', async () => {
    const { port, seen } = await host();
    const { url, asked } = await proxy();
    expect(await download(`http://localhost:${port}/`, { proxies: { http: url } })).toBe(true);
    const login = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(asked).toEqual([{ target: expect.stringMatching(/^(127\.0\.0\.1|\[::1\]):\d+$/), login }]);
    expect(seen[0]).toMatchObject({ host: `localhost:${port}` });
    expect(seen[0]?.['proxy-authorization']).toBeUndefined();
  });

  it('gets the name of the host for TLS', async () => {
    const { port } = await host();
    const { url, asked } = await proxy();
    expect(await download(`https://localhost:${port}/`, { proxies: { https: url } })).toMatch(
      /secure connection failed/,
    );
    expect(asked).toHaveLength(1);
  });

  it('does not lift the rules for addresses', async () => {
    const { url, asked } = await proxy();
    const proxies = { http: url, https: url };
    expect(await download('http://10.0.0.1/', { proxies })).toMatch(/private network/);
    expect(await download('https://169.254.169.254/', { proxies })).toMatch(/link-local/);
    const { port } = await host((_, response) => redirect(response, 'http://169.254.169.254/'));
    expect(await download(`http://127.0.0.1:${port}/`, { proxies })).toMatch(/link-local/);
    expect(asked).toHaveLength(1);
  });

  it('is named when it refuses or does not answer, without its address', async () => {
    const { port } = await host();
    const target = `http://127.0.0.1:${port}/`;
    expect(await download(target, { proxies: { http: (await proxy(407)).url } })).toMatch(
      /: the proxy refused with status 407\.$/,
    );
    const gone = await proxy();
    servers.at(-1)?.close();
    expect(await download(target, { proxies: { http: gone.url } })).toMatch(/: the proxy does not answer\.$/);
  });

  it.each([
    ['https://a.example/', [], 'https://s'],
    ['http://a.example/', [], 'http://p'],
    ['https://a.example/', ['*'], undefined],
    ['https://a.example/', ['example'], undefined],
    ['https://a.example/', ['.example'], undefined],
    ['https://a.example/', ['*.EXAMPLE'], undefined],
    ['https://a.example/', ['ample', 'b.a.example', ''], 'https://s'],
    ['https://a.example/', ['a.example:443'], undefined],
    ['https://a.example:444/', ['a.example:443'], 'https://s'],
    ['https://10.1.2.3/', ['10.0.0.0/8'], undefined],
    ['https://11.1.2.3/', ['10.0.0.0/8', '3', 'fd00::/8', '10.0.0.0/99'], 'https://s'],
    ['https://[fd00::1]/', ['10.0.0.0/8', 'fd00::/8'], undefined],
    ['https://[::1]/', ['::1'], undefined],
  ])('for %s except for %j is %s', (url, except, expected) => {
    const proxies = { https: new URL('https://s'), http: new URL('http://p'), except };
    expect(proxyFor(new URL(url), proxies)?.origin).toBe(expected);
  });
});
