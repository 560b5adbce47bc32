import { parseUrl } from '@akin/domain';
import { WeightedSemaphore } from '@akin/runtime';

/**
 * Limits the simultaneous requests to one host. The others wait their turn and do not delay requests to other hosts.
 */
export class HostLimit {
  readonly #max: number;
  readonly #hosts = new Map<string, WeightedSemaphore>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * @param url requests are counted by its host; a URL that cannot be parsed counts as a separate host
   * @returns a function that releases the slot; call it once
   * @throws the signal's reason if it aborts before the request is admitted
   */
  async acquire(url: string, urgent: boolean, signal: AbortSignal): Promise<() => void> {
    const key = parseUrl(url)?.host ?? url;
    const host = this.#hosts.get(key) ?? new WeightedSemaphore(this.#max);
    this.#hosts.set(key, host);
    const release = await host.acquire(urgent, signal);
    return () => {
      release();
      if (host.isEmpty) this.#hosts.delete(key);
    };
  }
}
