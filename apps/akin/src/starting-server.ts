import { createServer } from 'node:http';

const RETRY_AFTER_SECONDS = 2;

/**
 * Listens while the store is opened, which takes long on a busy machine after a kill: clients get 503 with Retry-After,
 * as from an akin whose database is away, and a port in use is noticed before the database is opened.
 *
 * @returns disposing it frees the port
 * @throws Error of the system if it cannot listen
 */
export async function answerWhileStarting(host: string, port: number): Promise<AsyncDisposable> {
  const msg = 'akin is starting: try again in a few seconds.';
  const body = JSON.stringify({
    responseHeader: { status: 503, QTime: 0 },
    error: { metadata: ['error-class', 'unavailable'], msg, code: 503 },
  });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(503, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'retry-after': String(RETRY_AFTER_SECONDS),
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
