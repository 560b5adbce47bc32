import { at, type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Random } from '../random.ts';

/** Heights of a skyline from left to right, evenly spaced. */
export type Ridge = readonly number[];

/** A jagged line by midpoint displacement: 65 heights around `base`, with a deviation up to about `size`. */
export function jagged(random: Random, base: number, size: number, roughness = 0.55): Ridge {
  const steps = 64;
  const heights = new Array<number>(steps + 1).fill(base);
  heights[0] = base + random.between(-0.4, 0.4) * size;
  heights[steps] = base + random.between(-0.4, 0.4) * size;
  let reach = size;
  for (let span = steps; span > 1; span /= 2) {
    for (let i = span / 2; i < steps; i += span) {
      const middle = ((heights[i - span / 2] as number) + (heights[i + span / 2] as number)) / 2;
      heights[i] = middle + random.between(-1, 1) * reach;
    }
    reach *= roughness;
  }
  return heights;
}

/** A soft line: the sum of three waves of random phase. */
export function rolling(random: Random, base: number, size: number): Ridge {
  const waves = [1, 2, 3.3].map((frequency, i) => ({
    frequency: frequency * random.between(0.7, 1.3),
    phase: random.between(0, 6.28),
    size: (size / (i + 1)) * random.between(0.6, 1),
  }));
  return Array.from({ length: 65 }, (_, i) =>
    waves.reduce((y, wave) => y + wave.size * Math.sin((i / 64) * 6.28 * wave.frequency + wave.phase), base),
  );
}

/** The height of a ridge at x. */
export function heightAt(ridge: Ridge, x: number, width: number): number {
  const position = Math.max(0, Math.min(64, (x / width) * 64));
  const i = Math.min(63, Math.floor(position));
  return (ridge[i] as number) + ((ridge[i + 1] as number) - (ridge[i] as number)) * (position - i);
}

/** The outline of everything below a ridge. */
export function below(ridge: Ridge, width: number, bottom: number): string {
  const line = ridge.map((y, i) => `L${at((i / 64) * width)} ${at(y)}`).join(' ');
  return `M0 ${bottom} ${line} L${width} ${bottom} Z`;
}

/** A mountain lit from the left with its base at `foot`, and a snow cap if a colour is given. */
function drawPeak(
  d: Drawing,
  x: number,
  foot: number,
  height: number,
  half: number,
  color: string,
  snow: string | null,
  random: Random,
): void {
  const steps = [0, 0.1, 0.22, 0.34, 0.48, 0.62, 0.78, 1];
  const edge = (side: number): [number, number][] =>
    steps.map((t) => [
      x + side * half * t * random.between(0.9, 1.1) + (t > 0 && t < 1 ? random.between(-0.03, 0.03) * half : 0),
      foot - height * (1 - t),
    ]);
  const left = edge(-1);
  const right = edge(1);
  const crest = steps.map((t, i): [number, number] => [
    x + half * (0.1 * t + (i % 2 === 0 ? 0.1 : -0.05) * Math.min(1, 2 * t)),
    foot - height * (1 - t),
  ]);
  const outline = polygon([...left, ...right.reverse()]);
  d.path(outline, d.vertical(lighter(color, 0.14), color));
  d.inside(outline, () => {
    if (snow !== null) {
      const line = foot - height * 0.66;
      const teeth = Array.from({ length: 11 }, (_, i): [number, number] => [
        x - half + (2 * half * i) / 10,
        line + (i % 2 === 0 ? 0.13 : -0.07) * height * random.between(0.6, 1.2),
      ]);
      d.path(polygon([[x - half, foot - height - 9], [x + half, foot - height - 9], ...teeth.reverse()]), snow);
    }
    d.path(
      polygon([...crest, [x + half * 1.2, foot], [x + half * 1.2, foot - height], [x, foot - height - 5]]),
      '#161d3d',
      'opacity="0.26"',
    );
  });
}

/** Mountains next to each other over the whole width, with their base at `foot`; the highest is about `height` high. */
export function drawPeaks(
  d: Drawing,
  foot: number,
  height: number,
  color: string,
  snow: string | null,
  random: Random,
): void {
  const count = random.integer(4, 6);
  const tops = Array.from({ length: count }, (_, i) => ({
    x: d.width * ((i + random.between(0.2, 0.8)) / count),
    height: height * random.between(0.55, 1),
  }));
  tops.sort((a, b) => b.height - a.height);
  for (const top of tops) {
    drawPeak(d, top.x, foot, top.height, top.height * random.between(0.95, 1.3), color, snow, random);
  }
}

function polygon(points: readonly (readonly [number, number])[]): string {
  return `M${points.map(([x, y]) => `${at(x)} ${at(y)}`).join(' L')} Z`;
}

/** A fir with its base at x, y. */
export function drawFir(d: Drawing, x: number, y: number, height: number, color: string, trunk = true): void {
  const half = height * 0.27;
  const tiers = 4;
  let left = '';
  let right = '';
  for (let i = 0; i < tiers; i++) {
    const low = y - height * 0.1 - (height * 0.86 * (tiers - 1 - i)) / tiers;
    const reach = half * (0.35 + (0.65 * (i + 1)) / tiers);
    right += ` L${at(x + reach)} ${at(low)} L${at(x + reach * 0.45)} ${at(low - height * 0.03)}`;
    left = ` L${at(x - reach * 0.45)} ${at(low - height * 0.03)} L${at(x - reach)} ${at(low)}${left}`;
  }
  if (trunk)
    d.rect(
      Math.round(x - height * 0.025),
      Math.round(y - height * 0.14),
      Math.max(1, Math.round(height * 0.05)),
      Math.round(height * 0.14),
      darker(mix(color, '#4a3020', 0.6), 0.3),
    );
  d.path(`M${at(x)} ${at(y - height)}${right}${left} Z`, color);
}

/** A tree with a round crown and its base at x, y. */
export function drawTree(d: Drawing, x: number, y: number, height: number, color: string, random: Random): void {
  const trunk = mix('#5a3d28', color, 0.25);
  d.path(
    `M${at(x - height * 0.04)} ${at(y)} L${at(x - height * 0.02)} ${at(y - height * 0.5)} L${at(x + height * 0.02)} ${at(y - height * 0.5)} L${at(x + height * 0.04)} ${at(y)} Z`,
    trunk,
  );
  for (let i = 0; i < 9; i++) {
    const cx = Math.round(x + random.between(-0.24, 0.24) * height);
    const cy = Math.round(y - height * random.between(0.5, 0.82));
    d.circle(
      cx,
      cy,
      Math.round(height * random.between(0.13, 0.2)),
      mix(darker(color, 0.2), lighter(color, 0.15), (y - cy) / height),
    );
  }
}

/** Reflections on water between two heights, below a light at x. */
export function drawGlints(d: Drawing, x: number, top: number, bottom: number, color: string, random: Random): void {
  for (let i = 0; i < 34; i++) {
    const depth = random.next();
    const y = top + 4 + (bottom - top - 6) * depth;
    const half = random.between(4, 12 + 26 * depth);
    const middle = x + random.between(-1, 1) * (10 + 34 * depth);
    d.line(
      `M${at(middle - half)} ${at(y)} L${at(middle + half)} ${at(y)}`,
      color,
      Math.round(12 + 12 * depth) / 10,
      `opacity="${at(random.between(0.3, 0.8))}"`,
    );
  }
}
