/** Limits for one picture. Each is checked before the work that it bounds. */
export interface ImageLimits {
  /** Maximum bytes of the file. */
  readonly bytes: number;
  /** Maximum width times height, as the file's header states them. */
  readonly pixels: number;
  /**
   * Maximum of width and height in pixels, as the header states them. A longer side is not useful in a picture, and is
   * expensive even with few pixels, because resizing works on whole rows.
   */
  readonly side: number;
  /** Maximum frames of an animation or pages of a TIFF; only the first one is decoded. */
  readonly frames: number;
  /** Maximum scans of a JPEG; progressive files have about ten. The decoder reads all scans before its first row. */
  readonly scans: number;
  /** Time limit for decoding; enforced in whole seconds, rounded up. */
  readonly decodeMilliseconds: number;
  /** Time limit for the lookup of a host name by DNS. */
  readonly lookupMilliseconds: number;
  /** Time limit for a whole download without DNS: connections, redirects and body together. */
  readonly downloadMilliseconds: number;
  readonly redirects: number;
}

export const DEFAULT_IMAGE_LIMITS: ImageLimits = {
  bytes: 25_000_000,
  pixels: 50_000_000,
  side: 100_000,
  frames: 2_000,
  scans: 100,
  decodeMilliseconds: 20_000,
  lookupMilliseconds: 10_000,
  downloadMilliseconds: 15_000,
  redirects: 5,
};

/**
 * Limits for the files of the owner: no fixed size, because the memory budget of decoding decides. They may take as long
 * as a thread may.
 */
export const OWN_IMAGE_LIMITS: Partial<ImageLimits> = {
  bytes: Number.POSITIVE_INFINITY,
  pixels: Number.POSITIVE_INFINITY,
  decodeMilliseconds: 100_000,
};

/** Formats byte counts for people: `25 MB`, `512 bytes`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1_000_000_000) return `${Number((bytes / 1_000_000_000).toFixed(1))} GB`;
  if (bytes >= 1_000_000) return `${Number((bytes / 1_000_000).toFixed(1))} MB`;
  if (bytes >= 1_000) return `${Number((bytes / 1_000).toFixed(1))} kB`;
  return `${bytes} bytes`;
}
