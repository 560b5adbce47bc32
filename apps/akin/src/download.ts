import { type DownloadPolicy, downloadImage } from '@akin/imaging';
import { inSpan } from '@akin/runtime';

export type Download = (url: string, signal?: AbortSignal) => Promise<Uint8Array>;

/** Fetches pictures, guarded, each in a span that tells of the address nothing but its host: addresses hold secrets. */
export function downloader(policy: DownloadPolicy): Download {
  return (url, signal) => {
    const attributes = { 'http.request.method': 'GET', ...serverOf(url) };
    return inSpan('GET', { kind: 'client', attributes }, async (span) => {
      const bytes = await downloadImage(url, { policy, ...(signal ? { signal } : {}) });
      span.set({ 'http.response.body.size': bytes.length });
      return bytes;
    });
  };
}

/** Host and port of an address, as spans name them. */
export function serverOf(address: string): { 'server.address'?: string; 'server.port'?: number } {
  if (!URL.canParse(address)) return {};
  const { hostname, port, protocol } = new URL(address);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}
