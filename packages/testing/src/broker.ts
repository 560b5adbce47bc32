import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { createServices } from './services.ts';

const SHARED = ['postgres', 'redis', 'folder'] as const;

/** How a test file finds the services of its run: set by the jest set-up, inherited by jest's workers. */
const BROKER = 'AKIN_TEST_BROKER';

/**
 * Lets test files, wherever jest runs them, ask for what this run shares: `GET /postgres` and `GET /redis` answer with an
 * address, `GET /folder` with a path. A run that asks for nothing starts nothing.
 */
export async function openBroker(): Promise<AsyncDisposable> {
  const services = createServices();
  // Before any test, whose time limit it would break. If it fails, the test that asks gets the reason.
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

/** The address of a service of this run, or the path of its folder. */
export async function askBroker(shared: (typeof SHARED)[number]): Promise<string> {
  const broker = process.env[BROKER];
  if (broker === undefined) throw new Error('no test services: run jest with the configuration at the root');
  const [response] = await once(get(`${broker}/${shared}`, { agent: false }), 'response');
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(answer);
  return answer;
}
