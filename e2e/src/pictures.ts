import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drawImage, randomNumbers } from '@akin/testing';
import sharp from 'sharp';

/** Drawings that every analysis distinguishes. */
export const UNLIKE = [1, 3, 6, 8] as const;

/** A drawn JPEG. */
export function picture(seed: number, width = 320, height = 240): Promise<Buffer> {
  return drawImage({ width, height, seed });
}

type Color = readonly [red: number, green: number, blue: number];

const [WIDTH, HEIGHT] = [600, 450];

/**
 * A picture of many triangles, which has points to find its parts by. Not drawn as SVG: akin forbids sharp to read that,
 * in the whole process.
 */
export function triangles(
  seed: number,
  colorOf = (any: () => number): Color => [any(), any(), any()],
): Promise<Buffer> {
  const random = randomNumbers(seed);
  const number = (most: number) => Math.floor(random() * most);
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3, 0x88);
  for (let i = 0; i < 70; i++) {
    const [x, y] = [number(WIDTH), number(HEIGHT)];
    const corners = [0, 1, 2].map(() => [x + number(120) - 60, y + number(120) - 60] as const);
    fill(
      pixels,
      corners,
      colorOf(() => number(256)),
    );
  }
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .jpeg({ quality: 90 })
    .toBuffer();
}

function fill(pixels: Buffer, corners: readonly (readonly [number, number])[], color: Color): void {
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  for (let y = Math.max(0, Math.min(...ys)); y < Math.min(HEIGHT, Math.max(...ys)); y++) {
    for (let x = Math.max(0, Math.min(...xs)); x < Math.min(WIDTH, Math.max(...xs)); x++) {
      const sides = corners.map(([x0, y0], i) => {
        const [x1, y1] = corners[(i + 1) % 3] as readonly [number, number];
        return Math.sign((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0));
      });
      if (!(sides.includes(1) && sides.includes(-1))) pixels.set(color, (y * WIDTH + x) * 3);
    }
  }
}

/** A copy as on the web: smaller, and compressed more. */
export function copyOf(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes).resize(200).jpeg({ quality: 60 }).toBuffer();
}

/** A file of a camera: rotated, with the time, the camera and the place in its EXIF. */
export function photo(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes)
    .withExif({
      IFD0: { Make: 'Akinon', Model: 'A-1' },
      IFD2: { DateTimeOriginal: '2023:06:15 14:30:00', OffsetTimeOriginal: '+02:00' },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '52/1 30/1 0/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '13/1 24/1 0/1',
      },
    })
    .withMetadata({ orientation: 6 })
    .toBuffer();
}

export interface PictureServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves drawings at `/<seed>.jpg`, with 404 for anything else. */
export async function servePictures(): Promise<PictureServer> {
  const drawn = new Map<number, Promise<Buffer>>();
  const server = createServer((request, response) => {
    const seed = Number(/^\/(\d+)\.jpg/.exec(request.url ?? '')?.[1] ?? Number.NaN);
    if (Number.isNaN(seed)) return void response.writeHead(404).end();
    const bytes = drawn.get(seed) ?? picture(seed);
    drawn.set(seed, bytes);
    void bytes.then((body) => response.setHeader('content-type', 'image/jpeg').end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
