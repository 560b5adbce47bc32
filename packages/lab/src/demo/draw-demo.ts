import { spawn } from 'node:child_process';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A demo document, as sent to akin except for `file`. */
export interface DemoDocument {
  /** Path of the WebP. */
  readonly file: string;
  readonly id: string;
  readonly labels: readonly string[];
  readonly title: string;
  /** `product`, `scene` or `edited copy`. */
  readonly kind: string;
  readonly category: string;
  /** ISO date. */
  readonly released: string;
  /** `lat,lon` of `city`. */
  readonly location: string;
  readonly city: string;
  /** For products: an invented brand, a price with cents, the stock. */
  readonly brand?: string;
  readonly price?: number;
  readonly in_stock?: boolean;
  readonly quantity?: number;
  /** For scenes: dawn, day, sunset or night. */
  readonly time_of_day?: string;
  /** For edited copies: the id of the original and the name of the edit. */
  readonly copy_of?: string;
  readonly edit?: string;
}

const DRAW = new URL('../../dist/demo/draw.js', import.meta.url);

/**
 * Draws the demo pictures into a folder, which is created if it is missing, and returns their documents. The same code
 * draws the same documents. Takes a few seconds.
 * Runs in a separate process: the pictures are drawn as SVG, which a process that analyzes pictures must never be able
 * to read.
 */
export async function drawDemo(folder: string, signal?: AbortSignal): Promise<DemoDocument[]> {
  await fs.mkdir(folder, { recursive: true });
  const child = spawn(process.execPath, [fileURLToPath(DRAW), folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`The demo pictures could not be drawn: ${complaint.trim() || `exit code ${code}`}`);
  const documents = JSON.parse(await fs.readFile(path.join(folder, 'documents.json'), 'utf8')) as DemoDocument[];
  return documents.map((document) => ({ ...document, file: path.join(folder, document.file) }));
}
