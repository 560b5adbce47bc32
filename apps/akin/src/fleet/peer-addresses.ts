import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '@akin/runtime';
import type { Peer } from './send.ts';

/** Names are resolved again after this time, because pods come and go. */
const LOOKUP_MILLISECONDS = 5_000;
/** A peer that fails this many times in a row is left out. */
const FAILURES = 3;

/** All addresses of a host. @throws if the name cannot be resolved */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** One process, or a load balancer in front of several, at one network address. */
export interface PeerAddress extends Peer {
  /** For logs and metrics: `10.0.0.7:8984`. */
  readonly name: string;
  failures: number;
  isLeftOut: boolean;
}

export interface AddressesConfig {
  readonly urls: readonly string[];
  /** Time from the failure of a peer to its first health check. It doubles with each check that fails. */
  readonly pauseMilliseconds: number;
  readonly maxPauseMilliseconds: number;
  readonly log: Log;
  readonly probe: (peer: Peer) => Promise<void>;
  readonly resolve?: Resolve | undefined;
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

  /** The peers, starting with the next in turn. Those that are left out come last. */
  async inTurn(): Promise<readonly PeerAddress[]> {
    await this.#lookUp();
    const { all } = this;
    const first = this.#turn++ % Math.max(1, all.length);
    const turned = [...all.slice(first), ...all.slice(0, first)];
    return turned.sort((a, b) => Number(a.isLeftOut) - Number(b.isLeftOut));
  }

  succeeded(address: PeerAddress): void {
    address.failures = 0;
    address.isLeftOut = false;
  }

  /**
   * Leaves a peer out that fails several times in a row, or hangs, until it answers a health check. Then its next
   * failure is enough.
   */
  failed(address: PeerAddress, reason: string, isHanging: boolean): void {
    address.failures = isHanging ? FAILURES : address.failures + 1;
    if (address.failures < FAILURES || address.isLeftOut) return;
    address.isLeftOut = true;
    this.#config.log.warn({ analyzer: address.name, reason }, 'leaves out an analyzer');
    void this.#untilHealthy(address);
  }

  async #untilHealthy(address: PeerAddress): Promise<void> {
    const { pauseMilliseconds, maxPauseMilliseconds, probe, log } = this.#config;
    for (let pause = pauseMilliseconds; ; pause = Math.min(pause * 2, maxPauseMilliseconds)) {
      await setTimeout(pause, undefined, { ref: false });
      // It answered in the meantime, or its name has other addresses now.
      if (!address.isLeftOut || this.#known.get(address.name) !== address) return;
      try {
        await probe(address);
      } catch {
        continue;
      }
      address.failures = FAILURES - 1;
      address.isLeftOut = false;
      log.info({ analyzer: address.name }, 'uses an analyzer again');
      return;
    }
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
        return this.#known.get(name) ?? { name, ip, url, failures: 0, isLeftOut: false };
      });
    } catch (err) {
      this.#config.log.warn({ host, err }, 'the host name of the analyzers cannot be resolved');
      return this.all.filter((known) => known.url === url);
    }
  }
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
