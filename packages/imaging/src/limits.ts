/** What one picture may cost. Everything is checked before the work that it bounds. */
export interface ImageLimits {
  /** Bytes of the file as it comes. */
  readonly bytes: number;
  /** Width times height, as the file's header states them. */
  readonly pixels: number;
  /**
   * The longer of width and height in pixels, as the header states them. What is longer is no picture, and costs by its
   * side rather than by its pixels, because resizing works on whole rows.
   */
  readonly side: number;
  /** Frames of an animation or pages of a TIFF; only the first is ever decoded. */
  readonly frames: number;
  /** Time for decoding; enforced in whole seconds, rounded up. */
  readonly decodeMilliseconds: number;
  /** Time for a whole download: names, connections, redirects and body together. */
  readonly downloadMilliseconds: number;
  /** How many redirects a download follows. */
  readonly redirects: number;
}

export const DEFAULT_IMAGE_LIMITS: ImageLimits = {
  bytes: 25_000_000,
  pixels: 50_000_000,
  side: 100_000,
  frames: 2_000,
  decodeMilliseconds: 20_000,
  downloadMilliseconds: 15_000,
  redirects: 5,
};

/** Byte counts as people read them: `25 MB`, `512 bytes`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1_000_000) return `${Number((bytes / 1_000_000).toFixed(1))} MB`;
  if (bytes >= 1_000) return `${Number((bytes / 1_000).toFixed(1))} kB`;
  return `${bytes} bytes`;
}
