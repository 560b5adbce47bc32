import type { ErrorCode, ErrorDetail } from '@akin/domain';

/** What a handler answers: members of a JSON object, after the response header that the frame adds. */
export interface JsonAnswer {
  readonly status?: number;
  /** Further members of `responseHeader`. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Set where a part of the request failed though the rest was done. */
  readonly partial?: { readonly code: ErrorCode; readonly message: string; readonly details: readonly ErrorDetail[] };
  /** False for the few answers that have no `responseHeader`. */
  readonly enveloped?: boolean;
}

/** An answer that is not JSON. */
export interface BytesAnswer {
  readonly status?: number;
  readonly type: string;
  readonly bytes: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that goes on until the client goes away or there is no more. */
export interface StreamAnswer {
  readonly type: string;
  /** Read no faster than the client reads; ended when it is gone. */
  readonly events: AsyncGenerator<string | Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file, or a part of it, which is not held in memory. */
export interface FileAnswer {
  readonly status?: number;
  readonly type: string;
  /** Bytes. */
  readonly length: number;
  /** Called once, where the client wants the bytes. */
  readonly read: () => AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Answer = JsonAnswer | BytesAnswer | StreamAnswer | FileAnswer;
