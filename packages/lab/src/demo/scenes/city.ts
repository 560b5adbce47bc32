import { at, type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Random } from '../random.ts';
import type { SceneKind } from './kind.ts';
import { drawGlints } from './land.ts';
import { drawSky, type Light } from './light.ts';

function drawTower(
  d: Drawing,
  x: number,
  foot: number,
  width: number,
  height: number,
  color: string,
  light: Light,
  random: Random,
  detailed: boolean,
): void {
  const top = foot - height;
  d.rect(x, top, width, height, d.horizontal(lighter(color, 0.1), color, darker(color, 0.16)));
  const roof = random.integer(0, 4);
  if (roof === 0)
    d.path(`M${x} ${top} L${at(x + width / 2)} ${at(top - width * 0.7)} L${x + width} ${top} Z`, darker(color, 0.08));
  if (roof === 1)
    d.rect(Math.round(x + width * 0.2), Math.round(top - 12), Math.round(width * 0.6), 13, darker(color, 0.06));
  if (roof === 2) d.line(`M${at(x + width / 2)} ${at(top)} v-26`, darker(color, 0.1), 2);
  if (roof === 3)
    d.path(`M${x} ${top} L${x + width} ${at(top - width * 0.45)} L${x + width} ${top} Z`, darker(color, 0.08));
  if (!detailed) return;
  const dark = light.time === 'night' || light.time === 'sunset';
  for (let y = top + 8; y < foot - 8; y += 10) {
    for (let column = x + 5; column < x + width - 6; column += 8) {
      if (dark ? random.chance(light.time === 'night' ? 0.5 : 0.3) : random.chance(0.75)) {
        d.rect(
          column,
          y,
          4,
          5,
          dark ? random.pick(['#ffd97a', '#ffe9b0', '#ffc766']) : mix(color, light.sky[1] as string, 0.55),
          0,
          dark ? 'opacity="0.9"' : 'opacity="0.7"',
        );
      }
    }
  }
}

function drawSkyline(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  const foot = Math.round(height * 0.78);
  const orb = drawSky(d, light, foot, random);
  for (let layer = 0; layer < 3; layer++) {
    const share = layer / 2;
    const base = light.on(random.pick(['#7f8ea3', '#8a8794', '#75879a']));
    let x = -random.integer(0, 30);
    while (x < width) {
      const w = random.integer(20, 34) + layer * random.integer(2, 14);
      const middle = 1 - Math.abs((x + w / 2) / width - 0.5) * 1.1;
      const h = Math.round(height * (0.1 + 0.4 * random.next() * middle) * (1 - 0.26 * share)) + 14;
      drawTower(
        d,
        x,
        foot,
        w,
        h,
        mix(
          light.haze,
          darker(mix(base, random.pick(['#a58a78', '#5f7590', '#8c8c98']), 0.4), 0.24 * share),
          0.35 + 0.65 * share,
        ),
        light,
        random,
        layer > 0,
      );
      x += w + random.integer(-2, layer === 2 ? 26 : 6);
    }
  }
  const water = light.on('#4a7591');
  d.rect(0, foot, width, height - foot, d.vertical(mix(water, light.haze, 0.45), darker(water, 0.3)));
  for (let i = 0; i < 36; i++) {
    const x = random.between(0, width);
    const lit = light.time === 'night' || light.time === 'sunset';
    d.line(
      `M${at(x)} ${at(foot + 4)} v${at(random.between(8, (height - foot) * 0.7))}`,
      lit ? '#ffd27a' : darker(water, 0.35),
      2.4,
      `opacity="${lit ? 0.3 : 0.18}"`,
    );
  }
  drawGlints(d, orb.x, foot, height, light.orb, random);
  d.rect(0, foot - 3, width, 6, darker(light.on('#5b5f66'), 0.3));
}

export const skyline: SceneKind = {
  name: 'skyline',
  labels: ['skyline', 'city', 'architecture'],
  cities: ['New York', 'Tokyo', 'Singapore', 'Chicago', 'Shanghai', 'Frankfurt', 'Toronto'],
  draw: drawSkyline,
};

function drawOldTown(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  const foot = Math.round(height * 0.86);
  drawSky(d, light, foot, random);
  const walls = ['#e8c46a', '#d98a5a', '#e9d9b8', '#c96a5a', '#9fb7a0', '#a8c0d4', '#efe3cf', '#d7a0a0'];
  const roofs = ['#9c4a34', '#7d3f33', '#5c5560', '#a85a3c'];
  let x = -random.integer(0, 20);
  while (x < width) {
    const w = random.integer(46, 70);
    const h = random.integer(Math.round(height * 0.26), Math.round(height * 0.42));
    const wall = light.on(random.pick(walls));
    const top = foot - h;
    const roof = light.on(random.pick(roofs));
    if (random.chance(0.6)) {
      d.path(
        `M${x - 3} ${top + 1} L${at(x + w / 2)} ${at(top - w * 0.62)} L${x + w + 3} ${top + 1} Z`,
        d.horizontal(lighter(roof, 0.1), darker(roof, 0.2)),
      );
    } else {
      const step = w / 6;
      d.path(
        `M${x} ${top} v${at(-step)} h${at(step)} v${at(-step)} h${at(step)} v${at(-step)} h${at(step * 2)} v${at(step)} h${at(step)} v${at(step)} h${at(step)} v${at(step)} Z`,
        wall,
      );
    }
    d.rect(x, top, w, h, d.horizontal(lighter(wall, 0.1), wall, darker(wall, 0.14)));
    const lit = light.time === 'night' || light.time === 'sunset';
    for (let y = top + 14; y < foot - 34; y += 30) {
      for (const share of [0.2, 0.6]) {
        const glow = lit && random.chance(0.6);
        d.rect(Math.round(x + w * share), y, 11, 17, glow ? '#ffdb84' : light.on('#4d5b6b'), 1);
        d.rect(Math.round(x + w * share - 1), y + 17, 13, 2, darker(wall, 0.25));
      }
    }
    d.rect(Math.round(x + w * 0.4), foot - 26, 13, 26, light.on('#5a3c2c'), 2);
    x += w;
  }
  const street = light.on('#8f877e');
  d.rect(0, foot, width, height - foot, d.vertical(lighter(street, 0.12), darker(street, 0.2)));
  for (let i = 0; i < 3; i++)
    d.line(`M0 ${at(foot + 8 + i * i * 7)} H${width}`, darker(street, 0.2), 1, 'opacity="0.5"');
}

export const oldTown: SceneKind = {
  name: 'old town',
  labels: ['old town', 'city', 'architecture'],
  cities: ['Prague', 'Copenhagen', 'Bruges', 'Porto', 'Stockholm', 'Krakow'],
  draw: drawOldTown,
};
