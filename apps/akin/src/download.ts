import { parseUrl } from '@akin/domain';
import type { AnalyzeImage } from '@akin/gateway';
import { DEFAULT_IMAGE_LIMITS, type DownloadSettings, downloadImage, type ImageLimits, toFields } from '@akin/imaging';
import type { Analyzer } from '@akin/modules/analyze';
import { inSpan, type Semaphore } from '@akin/runtime';

interface Fetched {
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/** @param maxMilliseconds a time limit if it is shorter than that of the settings */
export type Download = (
  url: string,
  urgent: boolean,
  signal: AbortSignal,
  maxMilliseconds?: number,
) => Promise<Fetched>;

/**
 * Fetches pictures with all safety checks, each in a span that names only the host, because URLs may contain secrets.
 *
 * @param files the budget of large files in memory. If a file does not fit, its reading pauses.
 * @param ownLimits of this process, besides those of the settings
 */
export function downloader(
  settings: DownloadSettings,
  files: Semaphore,
  ownLimits: Partial<ImageLimits> = {},
): Download {
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...settings.limits, ...ownLimits };
  return (url, urgent, signal, maxMilliseconds = Number.POSITIVE_INFINITY) => {
    const downloadMilliseconds = Math.min(limits.downloadMilliseconds, maxMilliseconds);
    const attributes = { 'http.request.method': 'GET', ...serverOf(url) };
    return inSpan('GET', { kind: 'client', attributes }, async (span) => {
      let release: (rest?: number) => void = () => {};
      const admit = async (bytes: number) => {
        release = await files.acquire(signal, { urgent, weight: bytes });
      };
      try {
        const bytes = await downloadImage(url, {
          ...settings,
          limits: { ...limits, downloadMilliseconds },
          signal,
          admit,
        });
        // Its size may not have been known before.
        release(bytes.length);
        span.set({ 'http.response.body.size': bytes.length });
        return { bytes, release: () => release() };
      } catch (error) {
        release();
        throw error;
      }
    });
  };
}

export function analyzeSentOrFetched(analyzer: Analyzer, download: Download): AnalyzeImage {
  return async (input, modules, options) => {
    const { urgent, model, signal = new AbortController().signal } = options;
    if ('text' in input) return analyzer.encodeText(input.text, signal, model);
    const { bytes, release } =
      'bytes' in input ? { bytes: input.bytes, release: () => {} } : await download(input.url, urgent, signal);
    try {
      const analysis = await analyzer.analyze(bytes, { ...options, modules, signal });
      if (analysis.facts === undefined) return analysis;
      const { width, height } = analysis;
      return { ...analysis, fields: { width, height, ...toFields(analysis.facts) } };
    } finally {
      release();
    }
  };
}

export function serverOf(address: string): { 'server.address'?: string; 'server.port'?: number } {
  const url = parseUrl(address);
  if (url === undefined) return {};
  const { hostname, port, protocol } = url;
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}
