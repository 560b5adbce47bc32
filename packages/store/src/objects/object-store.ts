import { AkinError } from '@akin/domain';

/** A place for many files that are written once: a bucket behind the S3 interface, or a folder. */
export interface ObjectStore extends AsyncDisposable {
  /** As an operator names it. */
  readonly place: string;
  /**
   * Resolves when the object is durable, whole, under its key.
   * @throws AkinError unavailable
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * @param range bytes from `from` up to `to`, exclusive; all of them when not given
   * @returns undefined when there is no such object, or it ends before the range does
   * @throws AkinError unavailable
   */
  get(key: string, range?: Range): Promise<Buffer | undefined>;
  /** Harmless when there is no such object. @throws AkinError unavailable */
  delete(key: string): Promise<void>;
  /** All objects whose keys begin with a prefix that ends with a slash, page by page. @throws AkinError unavailable */
  list(prefix: string): AsyncIterable<readonly ListedObject[]>;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ListedObject {
  readonly key: string;
  readonly modified: Date;
}

/** The place is not named: the message may reach clients. Logs have the cause. */
export function objectsAway(cause: unknown): AkinError {
  return new AkinError('unavailable', 'The store of outputs and thumbnails does not answer: try again.', {
    cause,
    retryAfterSeconds: 5,
  });
}
