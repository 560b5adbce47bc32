import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient } from '@akin/client';
import { freePort } from '@akin/testing';
import { RunningCommand } from './akin.ts';

export type ProcessName = 'gateway' | 'indexer' | 'analyzer' | 'analyze-node';

/** A process of a fleet, which can be killed and started again at the same address. */
export class FleetProcess {
  readonly name: ProcessName;
  readonly #env: NodeJS.ProcessEnv;
  readonly #args: readonly string[];
  #command: RunningCommand | undefined;
  #port = 0;

  /** @param env its settings; unless they say otherwise, it stops serving as soon as possible at its end */
  constructor(name: ProcessName, env: NodeJS.ProcessEnv, args: readonly string[] = []) {
    this.name = name;
    this.#env = env;
    this.#args = args;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** On 127.0.0.1. */
  get port(): number {
    return this.#port;
  }

  get client(): Client {
    return createClient({ baseUrl: this.url, retries: 0 });
  }

  /** Its process number, after its start. */
  get pid(): number | undefined {
    return this.#command?.pid;
  }

  /** Its log so far. */
  get log(): string {
    return this.#command?.err ?? '';
  }

  /** Its address is known from here on. */
  async choosePort(): Promise<void> {
    if (this.#port === 0) this.#port = await freePort();
  }

  /** Starts it and waits until it answers at its address, ready or not. */
  async start(): Promise<void> {
    await this.choosePort();
    this.#command = new RunningCommand([this.name, '--port', String(this.#port), ...this.#args], {
      env: { AKIN_SHUTDOWN_DELAY: '0', ...this.#env },
    });
    const ended = this.#command.ended().then(({ err }) => {
      throw new Error(`akin ${this.name} ended: ${err}`);
    });
    ended.catch(() => {});
    await Promise.race([ended, this.#untilLive()]);
  }

  async kill(): Promise<void> {
    await this.#command?.stop('SIGKILL');
  }

  /** Freezes it, as on a host that hangs: it does nothing and does not end, and its connections stay open. */
  freeze(): void {
    this.#command?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#command?.signal('SIGCONT');
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    return (await this.#command?.stop())?.code ?? null;
  }

  async get(path: string): Promise<{ status: number; retryAfter: string | null; body: unknown }> {
    const response = await fetch(`${this.url}${path}`);
    const text = await response.text();
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {}
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
  }

  async isReady(): Promise<boolean> {
    return this.get('/health/ready').then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  async #untilLive(): Promise<void> {
    for (;;) {
      const { status } = await this.get('/health/live').catch(() => ({ status: 0 }));
      if (status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** One process of each kind. */
export interface Fleet {
  readonly gateway: FleetProcess;
  readonly indexer: FleetProcess;
  readonly analyzer: FleetProcess;
  readonly all: readonly FleetProcess[];
}

/** Starts one process of each kind, which may still have to wait for their servers. */
export async function startFleet(env: NodeJS.ProcessEnv): Promise<Fleet> {
  const analyzer = new FleetProcess('analyzer', { ...env, AKIN_THREADS: '1', AKIN_ALLOW_LOOPBACK_IMAGES: 'true' });
  const indexer = new FleetProcess('indexer', env);
  await analyzer.choosePort();
  const gateway = new FleetProcess('gateway', { ...env, ANALYZE_URL: analyzer.url });
  const all = [gateway, indexer, analyzer];
  try {
    await Promise.all(all.map((one) => one.start()));
  } catch (error) {
    for (const one of all) await one.kill();
    throw error;
  }
  return { gateway, indexer, analyzer, all };
}

export interface Pictures {
  readonly url: string;
  /** How many responses are pending. */
  waiting(): number;
  /** Turns 503 for all responses on or off. */
  fail(failing: boolean): void;
  /** Delays all later responses by seconds. */
  slow(seconds: number): void;
  close(): void;
}

/** Serves one picture at any URL. `?seconds=` delays the response; `/broken` always fails. */
export async function servePictures(picture: Uint8Array): Promise<Pictures> {
  let waiting = 0;
  let failing = false;
  let later = 0;
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://pictures');
    if (failing) {
      response.writeHead(503).end();
      return;
    }
    if (pathname === '/broken') {
      response.writeHead(404).end();
      return;
    }
    waiting++;
    const timer = setTimeout(() => response.end(picture), (later + Number(searchParams.get('seconds') ?? 0)) * 1000);
    response.on('close', () => {
      waiting--;
      clearTimeout(timer);
    });
  });
  // Where "localhost" is ::1, too.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting: () => waiting,
    fail(now) {
      failing = now;
    },
    slow(seconds) {
      later = seconds;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
