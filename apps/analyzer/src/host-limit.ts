import { WeightedSemaphore } from '@akin/runtime';

/** Limits the simultaneous requests to one host. The others wait their turn and do not delay requests to other hosts. */
export class HostLimit {
  readonly #most: number;
  readonly #hosts = new Map<string, WeightedSemaphore>();

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @param url its host counts; one that cannot be read counts as a host of its own
   * @returns what gives the place back, to be called once
   * @throws the signal's reason when it aborts before
   */
  async enter(url: string, urgent: boolean, signal: AbortSignal): Promise<() => void> {
    const key = URL.canParse(url) ? new URL(url).host : url;
    const host = this.#hosts.get(key) ?? new WeightedSemaphore(this.#most);
    this.#hosts.set(key, host);
    const leave = await host.enter(urgent, signal);
    return () => {
      leave();
      if (host.isEmpty) this.#hosts.delete(key);
    };
  }
}
