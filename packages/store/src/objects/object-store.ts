import { AkinError } from '@akin/domain';

/** A store for many files that are written once: a bucket behind the S3 interface, or a folder. */
export interface ObjectStore extends AsyncDisposable {
  /** The name that an operator gave it. */
  readonly location: string;
  /** Resolves when the whole object is durable under its key. @throws AkinError unavailable */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * The bytes of an object.
   *
   * @param range bytes from `from` up to `to`, exclusive; default: all
   * @returns undefined if there is no such object, or it ends before the range does
   * @throws AkinError unavailable
   */
  get(key: string, range?: Range): Promise<Buffer | undefined>;
  /** Deletes an object, if it exists. @throws AkinError unavailable */
  delete(key: string): Promise<void>;
  /** All objects whose keys begin with a prefix that ends with a slash, in pages. @throws AkinError unavailable */
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

/** The error of a store that does not answer. The message is for clients: only the cause, for logs, names it. */
export function objectStoreUnavailable(cause: unknown): AkinError {
  return new AkinError('unavailable', 'The store of outputs and thumbnails does not answer: try again.', {
    cause,
    retryAfterSeconds: 5,
  });
}
