import type { Quota } from '@akin/store';

interface QuotaParameters {
  readonly maxDocuments?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** A missing parameter means no limit. */
export function readQuota({ maxDocuments, maxBytes }: QuotaParameters): Quota {
  return { maxDocuments: maxDocuments ?? null, maxBytes: maxBytes ?? null };
}
