import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianBalancer } from './debian.ts';
import { freePort, startServer } from './server.ts';

/** A load balancer that checks the readiness of each server every second and sends requests only to ready servers. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** The number of servers that currently get requests. */
  countUp(): Promise<number>;
  /** The number of servers that get no requests because they say that they are not ready. */
  countNotReady(): Promise<number>;
}

/**
 * Starts HAProxy. It repeats no request, so that a test sees each request that a server drops. A server that answers
 * "not ready" twice gets no more requests. A server that answers slowly still gets them, because the machine may be
 * busy.
 *
 * @param servers their ports on 127.0.0.1
 * @param health the path of the readiness probe
 */
export async function openBalancer(servers: readonly number[], health: string): Promise<Balancer> {
  const program = await debianBalancer();
  const folder = await mkdtemp(join(tmpdir(), 'akin-balancer-'));
  const file = join(folder, 'haproxy.cfg');
  const [port, statistics] = [await freePort(), await freePort()];
  await writeFile(
    file,
    `defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  timeout check 60s
  retries 0
frontend in
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET ${health}
  default-server inter 1s fall 2 check
${servers.map((one, i) => `  server s${i} 127.0.0.1:${one}\n`).join('')}
frontend statistics
  bind 127.0.0.1:${statistics}
  stats enable
  stats uri /
`,
  );
  const rows = async () => {
    const response = await fetch(`http://127.0.0.1:${statistics}/;csv`);
    return (await response.text()).split('\n');
  };
  const count = async (state: RegExp) => (await rows()).filter((row) => state.test(row)).length;
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    rows().then(
      () => true,
      () => false,
    );
  const server = await startServer([program, '-db', '-f', file], 'TERM', url, isUp);
  return {
    url,
    // With the number of failed checks after it as long as they are too few.
    countUp: () => count(/^servers,s\d+,.*,UP( \d+\/\d+)?,/),
    // L7STS: the last check had a response, with another status.
    countNotReady: () => count(/^servers,s\d+,.*,DOWN,.*,(\* )?L7STS,/),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
