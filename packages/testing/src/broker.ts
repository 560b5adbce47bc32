import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { createServices } from './services.ts';

const SHARED = ['postgres', 'redis', 'folder'] as const;

/** The environment variable with the URL of the broker: set by the jest set-up, inherited by jest's workers. */
const BROKER = 'AKIN_TEST_BROKER';

/**
 * A local HTTP server from which test files in all of jest's processes get the shared services of a run: `GET
 * /postgres` and `GET /redis` answer with a URL, `GET /folder` with a path. A service starts at the first request for
 * it.
 */
export async function openBroker(): Promise<AsyncDisposable> {
  const services = createServices();
  // Download before the tests, because it would exceed their time limit. If it fails, the test that requests the
  // service gets the error.
  await services.fetch().catch(() => {});
  const server = createServer((request, response) => {
    const shared = SHARED.find((name) => request.url === `/${name}`) ?? 'postgres';
    services[shared]().then(
      (where) => response.end(where),
      (error: Error) => response.writeHead(503).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port for the broker');
  process.env[BROKER] = `http://127.0.0.1:${address.port}`;
  return {
    async [Symbol.asyncDispose]() {
      delete process.env[BROKER];
      server.close();
      server.closeAllConnections();
      await services[Symbol.asyncDispose]();
    },
  };
}

/** Asks for the URL of a service of this run, or the path of its folder. */
export async function askBroker(shared: (typeof SHARED)[number]): Promise<string> {
  const broker = process.env[BROKER];
  if (broker === undefined) throw new Error('no test services: run jest with the configuration at the root');
  const [response] = await once(get(`${broker}/${shared}`, { agent: false }), 'response');
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(body);
  return body;
}
