import type { ReadyOperation } from './ready-operations.ts';

/** Chunks that are applied side by side: one at a time in each of some places. */
export class Appliers {
  readonly #work = new Map<number, Promise<number>>();
  #failed = 0;

  /** Begins to apply a chunk in a place that is {@link free}. @param work gives how many operations failed */
  begin(place: number, work: () => Promise<number>): void {
    const running = work();
    // Those who wait for it get its failure.
    running.catch(() => undefined);
    this.#work.set(place, running);
  }

  /** Waits until nothing is applied in a place. @throws what went wrong there */
  async free(place: number): Promise<void> {
    const running = this.#work.get(place);
    this.#work.delete(place);
    // Others may add to it while this one is waited for.
    const failed = (await running) ?? 0;
    this.#failed += failed;
  }

  /**
   * Waits until nothing is applied at all.
   * @returns how many operations failed since it was asked last
   * @throws what went wrong first, when all have ended
   */
  async all(): Promise<number> {
    const ended = await Promise.allSettled([...this.#work.keys()].map((place) => this.free(place)));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    const failed = this.#failed;
    this.#failed = 0;
    return failed;
  }
}

/** Parts operations by places, in the order in which they come: those of a shard are in the same one. */
export function shareOut(
  operations: readonly ReadyOperation[],
  places: number,
): { readonly place: number; readonly piece: readonly ReadyOperation[] }[] {
  const pieces = new Map<number, ReadyOperation[]>();
  for (const operation of operations) {
    const place = operation.shard % places;
    const piece = pieces.get(place);
    if (piece === undefined) pieces.set(place, [operation]);
    else piece.push(operation);
  }
  return Array.from(pieces, ([place, piece]) => ({ place, piece }));
}
