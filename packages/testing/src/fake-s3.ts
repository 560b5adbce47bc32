import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A fault of an S3 server. */
export type S3Fault = 'away' | 'denies' | 'hangs' | 'hangs in bodies' | 'cuts bodies';

/** A server with the part of the S3 interface that akin uses: one bucket, in memory. */
export interface FakeS3 extends AsyncDisposable {
  readonly bucket: string;
  /** Environment variables that a process needs to use it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly objects: Map<string, { readonly bytes: Buffer; modified: Date }>;
  /** Number of requests of each method. */
  readonly calls: Map<string, number>;
  /** @param times how many requests fail; by default all until `fail(undefined)` */
  fail(fault: S3Fault | undefined, times?: number): void;
}

const BUCKET = 'akin-test';
const KEY_ID = 'AKIATEST';
/** Objects on one page of a list. */
const PAGE = 3;

export async function fakeS3(): Promise<FakeS3> {
  const objects: FakeS3['objects'] = new Map();
  const calls = new Map<string, number>();
  let fault: S3Fault | undefined;
  let left = 0;
  const server = createServer((request, response) => {
    const method = request.method ?? '';
    calls.set(method, (calls.get(method) ?? 0) + 1);
    const failing = left-- > 0 ? fault : undefined;
    if (failing === 'hangs') return;
    if (failing === 'away') return void request.socket.destroy();
    if (failing === 'denies') return refuse(response, 403, 'AccessDenied');
    void handle(objects, request, response, failing).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    bucket: BUCKET,
    environment: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: KEY_ID,
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
    objects,
    calls,
    fail(next, times = Number.POSITIVE_INFINITY) {
      fault = next;
      left = next === undefined ? 0 : times;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function handle(
  objects: FakeS3['objects'],
  request: IncomingMessage,
  response: ServerResponse,
  failing: S3Fault | undefined,
): Promise<void> {
  const body = await buffer(request);
  if (!request.headers.authorization?.startsWith(`AWS4-HMAC-SHA256 Credential=${KEY_ID}/`)) {
    return refuse(response, 403, 'SignatureDoesNotMatch');
  }
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  const [, bucket, ...names] = decodeURIComponent(pathname).split('/');
  if (bucket !== BUCKET) return refuse(response, 404, 'NoSuchBucket');
  const key = names.join('/');
  if (request.method === 'GET' && key === '') return list(objects, searchParams, response);
  if (request.method === 'PUT') {
    objects.set(key, { bytes: body, modified: new Date() });
    return void response.writeHead(200, { etag: '"x"' }).end();
  }
  if (request.method === 'DELETE') {
    objects.delete(key);
    return void response.writeHead(204).end();
  }
  const found = objects.get(key)?.bytes;
  if (found === undefined) return refuse(response, 404, 'NoSuchKey');
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (Number(from) >= found.length) return refuse(response, 416, 'InvalidRange');
  const bytes = from === undefined ? found : found.subarray(Number(from), Number(to) + 1);
  response.writeHead(from === undefined ? 200 : 206, { 'content-length': bytes.length });
  if (failing === undefined) return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length >> 1));
  if (failing === 'cuts bodies') setImmediate(() => response.destroy());
}

function list(objects: FakeS3['objects'], parameters: URLSearchParams, response: ServerResponse): void {
  const after = parameters.get('continuation-token') ?? '';
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(parameters.get('prefix') ?? '') && key > after)
    .sort();
  const page = keys.slice(0, PAGE);
  const contents = page.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>${objects.get(key)?.modified.toISOString()}</LastModified></Contents>`,
  );
  const more = keys.length > PAGE;
  response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(
      `<?xml version="1.0"?><ListBucketResult><Name>${BUCKET}</Name><IsTruncated>${more}</IsTruncated>${contents.join('')}` +
        `${more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''}</ListBucketResult>`,
    );
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
