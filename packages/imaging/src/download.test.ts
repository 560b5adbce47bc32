import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import zlib, { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { AkinError } from '@akin/domain';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { drawBlocks, toSharp } from '../test/pictures.ts';
import type { DownloadPolicy } from './address.ts';
import { downloadImage } from './download.ts';
import type { ImageLimits } from './limits.ts';

const LOOPBACK = { allowLoopback: true, allowPrivate: false };
const PUBLIC = { allowLoopback: false, allowPrivate: false };
const picture = await toSharp(drawBlocks(3, 3)).png().toBuffer();

const servers: net.Server[] = [];

async function listen(server: net.Server, host = '127.0.0.1'): Promise<string> {
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (handle: (request: IncomingMessage, response: ServerResponse) => void) =>
  listen(http.createServer(handle));

/** A server that sends raw bytes, for responses that no HTTP library would send. */
const serveRaw = (handle: (socket: net.Socket) => void) =>
  listen(
    net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => handle(socket));
    }),
  );

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    if (server instanceof http.Server) server.closeAllConnections();
  }
});

async function refusal(
  url: string,
  policy: DownloadPolicy = LOOPBACK,
  limits: Partial<ImageLimits> = {},
): Promise<AkinError> {
  const error = await downloadImage(url, { policy, limits }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(AkinError);
  return error as AkinError;
}

describe('downloadImage', () => {
  it('returns the bytes for any declared type, and asks as a plain client: host, query, no credentials, no cookies', async () => {
    let seen: IncomingMessage | undefined;
    const base = await serve((request, response) => {
      seen = request;
      response.writeHead(200, { 'set-cookie': 'a=b', 'content-type': 'text/plain' }).end(picture);
    });
    const bytes = await downloadImage(`${base}/p/a%20b.png?sig=1%2B2#y`, { policy: LOOPBACK });
    expect(Buffer.compare(bytes, picture)).toBe(0);
    expect(seen?.url).toBe('/p/a%20b.png?sig=1%2B2');
    expect(seen?.headers.host).toBe(new URL(base).host);
    expect(seen?.headers['accept-encoding']).toBe('identity');
    expect(seen?.headers.cookie ?? seen?.headers.authorization).toBeUndefined();
  });

  const gzipped = gzipSync(picture);
  it.each<[string, Buffer]>([
    ['gzip', gzipped],
    ['X-GZIP', gzipped],
    ['deflate', deflateSync(picture)],
    ['deflate', deflateRawSync(picture)],
    ['br', brotliCompressSync(picture)],
    ['identity, gzip', gzipped],
    ['gzip, aws-chunked', gzipped],
    ['deflate, gzip', gzipSync(deflateSync(picture))],
    // Named, but not applied.
    ...['aws-chunked', 'none', 'utf-8', 'binary', 'exotic', '', 'gzip', 'br', 'zstd', 'gzip, br'].map(
      (coding): [string, Buffer] => [coding, picture],
    ),
  ])('reads the picture whatever content encoding is named: %s', async (encoding, body) => {
    const base = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      // The first bytes come alone.
      response.write(body.subarray(0, 1), () => response.end(body.subarray(1)));
    });
    expect(Buffer.compare(await downloadImage(base, { policy: LOOPBACK }), picture)).toBe(0);
  });

  it.each(['gzip', 'x-gzip', 'zstd', 'gzip, gzip'])(
    'takes what was never compressed as it is: %s',
    async (encoding) => {
      const base = await serve((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end('plain text');
      });
      expect(String(await downloadImage(base, { policy: LOOPBACK }))).toBe('plain text');
    },
  );

  it('reads zstd where Node does, and else names it', async () => {
    const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array) => Buffer };
    const body = zstdCompressSync?.(picture) ?? Buffer.from('28b52ffd', 'hex');
    const base = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end(body));
    if (zstdCompressSync) expect(await downloadImage(base, { policy: LOOPBACK })).toHaveLength(picture.length);
    else expect((await refusal(base)).message).toMatch(/compressed as zstd, which this Node cannot read/);
  });

  it.each([201, 202, 203, 206, 226, 299])('takes the bytes of a response with the status %d', async (status) => {
    const base = await serve((_, response) => response.writeHead(status).end(picture));
    expect(await downloadImage(base, { policy: LOOPBACK })).toHaveLength(picture.length);
  });

  it('follows relative and absolute redirects, as many as allowed', async () => {
    const base = await serve((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step === 0) response.end(picture);
      else response.writeHead([301, 302, 303, 307, 308][step % 5] as number, { location: `/${step - 1}` }).end('moved');
    });
    expect(await downloadImage(`${base}/5`, { policy: LOOPBACK })).toHaveLength(picture.length);
    const error = await refusal(`${base}/6`);
    expect(error.code).toBe('image-unreachable');
    expect(error.message).toMatch(/redirects more than 5 times/);
    expect((await refusal(`${base}/1`, LOOPBACK, { redirects: 0 })).message).toMatch(/more than 0 times/);
  });

  it.each([
    ['/größe.jpg', '/gr%C3%B6%C3%9Fe.jpg'],
    ['/写真 1.jpg?a=é#ü', '/%E5%86%99%E7%9C%9F%201.jpg?a=%C3%A9'],
    ['/gr%C3%B6%C3%9Fe.jpg', '/gr%C3%B6%C3%9Fe.jpg'],
  ])('follows a redirect to %s, sent as bytes of UTF-8', async (location, path) => {
    let seen: string | undefined;
    const base = await serve((request, response) => {
      seen = request.url;
      if (request.url === path) response.end(picture);
      else request.socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    });
    await downloadImage(`${base}/from`, { policy: LOOPBACK });
    expect(seen).toBe(path);
  });

  it.each([
    ['7', 7],
    ['0', 1],
    [new Date(Date.now() + 3_000_000).toUTCString(), expect.closeTo(3_000, -3)],
    ['soon', 1],
    ['-5', 1],
    ['', 1],
  ])('reports when the host asks to come back: %s', async (header, retryAfterSeconds) => {
    const base = await serve((_, response) => response.writeHead(429, { 'retry-after': header }).end());
    expect(await refusal(base)).toMatchObject({ code: 'image-unreachable', retryAfterSeconds });
  });

  it.each([204, 206, 304, 400, 401, 403, 404, 410, 429, 500, 503])('names the status %d', async (status) => {
    const base = await serve((_, response) => response.writeHead(status).end());
    const error = await refusal(`${base}/a.png`);
    expect(error.code).toBe('image-unreachable');
    expect(error.message).toMatch(new RegExp(`status ${status}`));
  });

  it('refuses a server that changes the protocol', async () => {
    const base = await serveRaw((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    );
    expect((await refusal(base)).message).toMatch(/status 101/);
  });

  it('says that a web page came instead of an image', async () => {
    const base = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'image/jpeg' }).end('<!doctype html><title>Log in</title>'),
    );
    expect((await refusal(base)).message).toMatch(/answered with a web page/);
  });

  it('says that the host is unknown, the connection refused or the response empty', async () => {
    expect((await refusal('http://no-such-host.invalid/a.png')).message).toMatch(/its host name .*\(DNS\)/);
    const base = await serve((_, response) => response.end());
    expect((await refusal(base)).message).toMatch(/empty body/);
    const [server] = servers as [net.Server];
    server.close();
    (server as http.Server).closeAllConnections();
    await once(server, 'close');
    expect((await refusal(base)).message).toMatch(/connection was refused/);
  });

  it("ends with the caller's reason when it aborts", async () => {
    const controller = new AbortController();
    const base = await serve(() => controller.abort(new Error('shutting down')));
    await expect(downloadImage(base, { policy: LOOPBACK, signal: controller.signal })).rejects.toThrow('shutting down');
    await expect(downloadImage(base, { policy: LOOPBACK, signal: controller.signal })).rejects.toThrow('shutting down');
  });
});

describe('where downloadImage refuses to go', () => {
  // address.test.ts has the kinds of addresses: here are the ways to write them in a URL.
  const everything = (host: string) => ({ allowLoopback: true, allowPrivate: true, allowHosts: [host] });
  it.each<[string, DownloadPolicy, RegExp]>([
    ['http://127.1/', PUBLIC, /machine that akin runs on/],
    ['http://2130706433/', PUBLIC, /machine that akin runs on/],
    ['http://0177.0.0.1/', PUBLIC, /machine that akin runs on/],
    ['http://[::ffff:7f00:1]/', PUBLIC, /machine that akin runs on/],
    ['http://①②⑦.⓪.⓪.①/', PUBLIC, /machine that akin runs on/],
    ['https://localhost./', PUBLIC, /machine that akin runs on|host name is not known/],
    ['http://192.168.0.1:8080/a.png', LOOPBACK, /private network/],
    ['http://[64:ff9b::a00:1]/', LOOPBACK, /private network/],
    ['http://0/', LOOPBACK, /reserved/],
    ['http://[::]/', LOOPBACK, /reserved/],
    ['http://0xa9fea9fe/', everything('0xa9fea9fe'), /link-local|metadata/],
    ['http://[fd00:ec2::254]/', everything('[fd00:ec2::254]'), /link-local|metadata/],
  ])('does not reach %s unless the policy says so', async (url, policy, message) => {
    expect(await refusal(url, policy)).toMatchObject({
      code: 'image-unreachable',
      message: expect.stringMatching(message),
    });
  });

  it('checks the target of every redirect', async () => {
    let asked = 0;
    const targets = [
      'http://169.254.169.254/latest/meta-data/iam/',
      'http://10.0.0.1/',
      '//0.0.0.0/',
      'file:///etc/passwd',
      'ftp://example.org/a.png',
      'gopher://127.0.0.1:70/',
      'data:image/png;base64,AAAA',
      'http://user:secret@127.0.0.1/',
      'http://[::1',
    ];
    const base = await serve((request, response) => {
      asked++;
      response.writeHead(302, { location: targets[Number(request.url?.slice(1))] as string }).end();
    });
    for (let i = 0; i < targets.length; i++) {
      const error = await refusal(`${base}/${i}`);
      expect(error.code).toBe('image-unreachable');
      expect(error.message).toMatch(/never fetched|private network|redirects to one/);
      expect(error.message).not.toMatch(/secret/);
    }
    expect(asked).toBe(targets.length);
  });

  it('refuses a redirect to this machine from the only trusted host', async () => {
    let reached = 0;
    const inner = await serve((_, response) => {
      reached++;
      response.end(picture);
    });
    const outer = await serve((_, response) => response.writeHead(302, { location: inner }).end());
    const url = outer.replace('127.0.0.1', 'localhost');
    const error = await refusal(url, { ...PUBLIC, allowHosts: ['localhost'] });
    expect(error.message).toMatch(/machine that akin runs on/);
    expect(reached).toBe(0);
  });

  it.each([
    ['ftp://example.org/a.png', /ftp:/],
    ['file:///etc/passwd', /file:/],
    ['javascript:alert(1)', /javascript:/],
    ['http://user@example.org/', /user name/],
    ['http://user:secret@example.org/', /user name/],
    ['/a.png', /is not a URL/],
    ['http://', /is not a URL/],
    ['http://exa mple.org/', /is not a URL/],
    ['', /is not a URL/],
  ])('refuses the address %j', async (url, message) => {
    const error = await refusal(url);
    expect(error.code).toBe('image-unreachable');
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/secret/);
  });

  it('keeps queries and fragments out of its messages', async () => {
    const base = await serve((_, response) => response.writeHead(403).end());
    const { message } = await refusal(`${base}/bucket/a.png?X-Signature=s3cr3t#s3cr3t`);
    expect(message).toMatch(/\/bucket\/a\.png could not/);
    expect(message).not.toMatch(/s3cr3t/);
  });
});

describe('hostile servers', () => {
  const quick = { downloadMilliseconds: 300 };

  it('stops at the byte limit, declared or not', async () => {
    const declared = await serve((_, response) => response.writeHead(200, { 'content-length': 5001 }).end());
    expect((await refusal(declared, LOOPBACK, { bytes: 5000 })).code).toBe('too-large');
    const endless = await serve((_, response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', write);
      write();
    });
    const error = await refusal(endless, LOOPBACK, { bytes: 1_000_000 });
    expect(error.code).toBe('too-large');
    expect(error.message).toMatch(/1 MB/);
  });

  it('stops a decompression bomb at the byte limit of its unpacked size', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const base = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    expect((await refusal(base, LOOPBACK, { bytes: 100_000 })).code).toBe('too-large');
  });

  it('times out on silence, on a slow body and on one that stops', async () => {
    const silent = await serve(() => {});
    const stopping = await serve((_, response) => response.writeHead(200).write(picture.subarray(0, 50)));
    const dripping = await serve((_, response) => {
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const packed = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync(picture).subarray(0, 20));
    });
    const headers = await serveRaw((socket) => {
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
      socket.write('HTTP/1.1 200 OK\r\n');
    });
    for (const url of [silent, stopping, dripping, packed, headers]) {
      const error = await refusal(url, LOOPBACK, quick);
      expect(error).toMatchObject({ code: 'image-unreachable', retryAfterSeconds: 1 });
      expect(error.message).toMatch(/within 0.3 seconds/);
    }
  });

  it('times out for a caller that could also abort', async () => {
    const { signal } = new AbortController();
    const download = downloadImage(await serve(() => {}), { policy: LOOPBACK, limits: quick, signal });
    await expect(download).rejects.toThrow(/within 0.3 seconds/);
  });

  it('counts the time of all redirects together', async () => {
    const base = await serve((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.url}x` }).end(), 120);
    });
    expect((await refusal(`${base}/`, LOOPBACK, quick)).message).toMatch(/within 0.3 seconds/);
  });

  it.each<[string, string, RegExp]>([
    ['a body shorter than declared', 'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nGIF89a', /broke off/],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx', /not valid HTTP|broke off/],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n', /not valid HTTP/],
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx', /not valid HTTP/],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello', /not valid HTTP/],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaaaaaaaaaa\r\n'.repeat(5000)}\r\n`, /not valid HTTP/],
    ['a status alone', 'HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n', /redirect without a target/],
    ['a damaged encoding', 'HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 4\r\n\r\njunk', /damaged/],
    ['nothing', '', /broke off/],
  ])('answers %s with a refusal', async (_, sent, message) => {
    const base = await serveRaw((socket) => socket.end(Buffer.from(sent, 'latin1')));
    const error = await refusal(base);
    expect(error.code).toBe('image-unreachable');
    expect(error.message).toMatch(message);
  });

  it('refuses a server without TLS on https', async () => {
    const base = await serve((_, response) => response.end(picture));
    expect((await refusal(base.replace('http:', 'https:'))).message).toMatch(/secure connection failed/);
  });

  it('leaves no connection open behind a refusal', async () => {
    let closed = 0;
    const base = await serve((request, response) => {
      request.socket.on('close', () => closed++);
      response.writeHead(500).write('partial');
    });
    // The time limit is far longer than the test, so that it is not the reason for the error.
    await refusal(base, LOOPBACK, { downloadMilliseconds: 3_600_000 });
    while (closed === 0) await new Promise(setImmediate);
    expect(closed).toBe(1);
  });
});

describe('a download that asks for admission', () => {
  const large = Buffer.alloc(3_000_000, 7);

  afterEach(() => {
    jest.useRealTimers();
  });

  it('asks once, with the announced size, or the maximum if there is none', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/small') response.end(large.subarray(0, 1_000_000));
      else if (request.url === '/announced') response.writeHead(200, { 'content-length': large.length }).end(large);
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(large));
    });
    const asked: [string, number][] = [];
    for (const path of ['small', 'announced', 'packed']) {
      await downloadImage(`${base}/${path}`, {
        policy: LOOPBACK,
        admit: async (bytes) => void asked.push([path, bytes]),
      });
    }
    expect(asked).toEqual([
      ['announced', 3_000_000],
      ['packed', 25_000_000],
    ]);
  });

  it('pauses the sender until it is admitted, and does not count that time', async () => {
    const base = await serve((_, response) =>
      response.writeHead(200, { 'content-length': 24_000_000 }).end(Buffer.alloc(24_000_000)),
    );
    const sockets: net.Socket[] = [];
    (servers.at(-1) as http.Server).on('connection', (socket) => sockets.push(socket));
    let admit = () => {};
    let asked = false;
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
    });
    // Only the clock of the download is stopped, so that the test also passes on a busy machine.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
    const bytes = downloadImage(base, {
      policy: LOOPBACK,
      limits: { downloadMilliseconds: 2_000 },
      admit: () => {
        asked = true;
        return admitted;
      },
    });
    while (!asked) await new Promise(setImmediate);
    // The time limit of the whole download passes.
    jest.advanceTimersByTime(2_000);
    expect(sockets[0]?.writableLength).toBeGreaterThan(0);
    admit();
    expect((await bytes).length).toBe(24_000_000);
  });

  it('ends when it is not admitted', async () => {
    const base = await serve((_, response) => response.end(large));
    const refused = downloadImage(base, {
      policy: LOOPBACK,
      admit: () => Promise.reject(new AkinError('unavailable', 'no room')),
    });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', message: 'no room' });
  });
});
