import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Log } from '@akin/runtime';
import { CircuitBreaker, type CircuitTimes } from './circuit-breaker.ts';
import type { Peer } from './send.ts';

/** Names are looked up again after this time; pods come and go. */
const LOOKUP_MILLISECONDS = 5_000;

/** All addresses of a host. @throws when the name is not known */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** One process, or what stands in front of several, at one address of the network. */
export interface PeerAddress extends Peer {
  /** For logs and figures: `10.0.0.7:8984`. */
  readonly name: string;
  readonly breaker: CircuitBreaker;
}

export interface AddressesConfig {
  /** What is there, for logs. */
  readonly kind: 'analyzer' | 'search node';
  readonly urls: readonly string[];
  readonly times: CircuitTimes;
  readonly log: Log;
  /** Asks one whose circuit is open for a sign of life. Rejects when it gives none. */
  readonly probe: (peer: Peer) => Promise<void>;
  /** As the system does when not given. */
  readonly resolve?: Resolve;
}

/** The processes behind some URLs. A host name that resolves to several addresses counts as several. */
export class PeerAddresses {
  readonly #urls: readonly URL[];
  readonly #config: AddressesConfig;
  #known = new Map<string, PeerAddress>();
  #lookingUp: Promise<void> | undefined;
  #lookUpAt = 0;
  #turn = 0;

  constructor(config: AddressesConfig) {
    this.#urls = config.urls.map((url) => new URL(url));
    this.#config = config;
  }

  get all(): readonly PeerAddress[] {
    return [...this.#known.values()];
  }

  /**
   * Those to ask, the next in turn first. Those whose circuit is open are left out; where that leaves none, the next in
   * turn is the one to ask, for somebody waits and it may answer again.
   */
  async inTurn(): Promise<readonly PeerAddress[]> {
    await this.#lookUp();
    const { all } = this;
    for (const address of all) void address.breaker.probe(() => this.#config.probe(address));
    const first = this.#turn++ % Math.max(1, all.length);
    const turned = [...all.slice(first), ...all.slice(0, first)];
    const closed = turned.filter(({ breaker }) => !breaker.isOpen);
    return closed.length > 0 ? closed : turned.slice(0, 1);
  }

  /** Waits only where nothing is known yet: a name server that hangs delays nobody else. */
  async #lookUp(): Promise<void> {
    if (performance.now() >= this.#lookUpAt) {
      this.#lookingUp ??= this.#lookUpNow().finally(() => {
        this.#lookingUp = undefined;
        this.#lookUpAt = performance.now() + LOOKUP_MILLISECONDS;
      });
    }
    if (this.#known.size === 0) await this.#lookingUp;
  }

  async #lookUpNow(): Promise<void> {
    const found = await Promise.all(this.#urls.map((url) => this.#addressesOf(url)));
    // A name that is not known at the moment stands for what it did before.
    if (found.every((addresses) => addresses.length === 0)) return;
    this.#known = new Map(found.flat().map((address) => [address.name, address]));
  }

  async #addressesOf(url: URL): Promise<PeerAddress[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    try {
      const ips = isIP(host) ? [host] : await (this.#config.resolve ?? resolveAll)(host);
      return ips.map((ip) => {
        const name = `${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
        return this.#known.get(name) ?? { name, ip, url, breaker: this.#breakerOf(name) };
      });
    } catch (err) {
      this.#config.log.warn({ host, err }, `the name of the ${this.#config.kind}s is not known`);
      return this.all.filter((known) => known.url === url);
    }
  }

  #breakerOf(name: string): CircuitBreaker {
    const { kind, log, times } = this.#config;
    const [one, field] = kind === 'analyzer' ? ['an analyzer', 'analyzer'] : ['a search node', 'node'];
    return new CircuitBreaker(times, (state, reason) => {
      const told = { [field]: name, reason };
      if (state === 'open') log.warn(told, `leaves ${one} out`);
      else log.info(told, state === 'half-open' ? `tries ${one} again` : `takes ${one} as before`);
    });
  }
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
