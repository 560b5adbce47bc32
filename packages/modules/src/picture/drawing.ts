import type { Pixels } from '@akin/imaging';

/** Draws a picture with a function from coordinates, both 0 to 1, to a colour `#RRGGBB`. For examples and tests. */
export function draw(width: number, height: number, color: (x: number, y: number) => string): Pixels {
  const data = new Uint8Array(width * height * 3);
  for (let row = 0, at = 0; row < height; row++) {
    for (let column = 0; column < width; column++, at += 3) {
      const rgb = Number.parseInt(color((column + 0.5) / width, (row + 0.5) / height).slice(1), 16);
      data[at] = rgb >> 16;
      data[at + 1] = (rgb >> 8) & 255;
      data[at + 2] = rgb & 255;
    }
  }
  return { width, height, data };
}

export function disc(ground: string, ink: string, center: [number, number] = [0.5, 0.5], radius = 0.3): Pixels {
  return draw(256, 256, (x, y) => (Math.hypot(x - center[0], y - center[1]) < radius ? ink : ground));
}

export function stripes(first: string, second: string, bars = 8, width = 256, height = 256): Pixels {
  return draw(width, height, (x) => (Math.floor(x * bars) % 2 === 0 ? first : second));
}
