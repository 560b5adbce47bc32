import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Log } from '@akin/runtime';
import { CircuitBreaker, type CircuitTimes } from './circuit-breaker.ts';
import type { Peer } from './send.ts';

/** Names are resolved again after this time, because pods come and go. */
const LOOKUP_MILLISECONDS = 5_000;

/** All addresses of a host. @throws if the name cannot be resolved */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** One process, or a load balancer in front of several, at one network address. */
export interface PeerAddress extends Peer {
  /** For logs and metrics: `10.0.0.7:8984`. */
  readonly name: string;
  readonly breaker: CircuitBreaker;
}

export interface AddressesConfig {
  readonly urls: readonly string[];
  readonly times: CircuitTimes;
  readonly log: Log;
  /** Sends a health check to a peer whose circuit is open. Rejects if it does not answer. */
  readonly probe: (peer: Peer) => Promise<void>;
  /** Default: as the system does. */
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
   * The peers to ask, starting with the next in turn. Peers with an open circuit are left out. If that leaves none, the
   * next in turn is asked, because a client waits and the peer may answer again.
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

  /** Waits only if nothing is known yet: a name server that hangs delays nothing else. */
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
    // A name that cannot be resolved at the moment keeps its last addresses.
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
      this.#config.log.warn({ host, err }, 'the host name of the analyzers cannot be resolved');
      return this.all.filter((known) => known.url === url);
    }
  }

  #breakerOf(name: string): CircuitBreaker {
    const { log, times } = this.#config;
    return new CircuitBreaker(times, (state, reason) => {
      const fields = { analyzer: name, reason };
      if (state === 'open') log.warn(fields, 'leaves out an analyzer');
      else log.info(fields, state === 'half-open' ? 'tries an analyzer again' : 'uses an analyzer again');
    });
  }
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
