import { at, type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Random } from '../random.ts';
import type { SceneKind } from './kind.ts';
import { below, drawFir, drawPeaks, drawTree, heightAt, jagged, rolling } from './land.ts';
import { drawSky, type Light } from './light.ts';

function drawMountains(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  drawSky(d, light, Math.round(height * 0.72), random);
  const rock = random.pick(['#6c7f9c', '#7d7488', '#66828c']);
  const snow = mix(light.on('#ffffff'), light.sky[light.sky.length - 2] as string, 0.14);
  const far = mix(light.on(lighter(rock, 0.25)), light.haze, 0.55);
  d.path(below(jagged(random, height * 0.58, height * 0.09), width, height), far);
  const foot = height * 0.86;
  drawPeaks(
    d,
    foot,
    height * 0.46,
    mix(light.on(lighter(rock, 0.15)), light.haze, 0.32),
    mix(snow, light.haze, 0.3),
    random,
  );
  drawPeaks(d, foot, height * 0.38, mix(light.on(rock), light.haze, 0.08), snow, random);
  const hills = rolling(random, height * 0.79, height * 0.03);
  d.path(below(hills, width, height), d.vertical(mix(light.on('#5b8f5a'), light.haze, 0.2), light.on('#2f6440')));
  const front = rolling(random, height * 0.9, height * 0.025);
  for (let i = 0; i < 26; i++) {
    const x = random.between(0, width);
    drawFir(
      d,
      x,
      heightAt(hills, x, width) + random.between(4, 22),
      height * random.between(0.06, 0.11),
      light.on('#2b5c3f'),
    );
  }
  d.path(below(front, width, height), d.vertical(light.on('#2c5a3c'), light.on('#193a29')));
}

export const mountains: SceneKind = {
  name: 'mountains',
  labels: ['mountains', 'nature', 'travel'],
  cities: ['Innsbruck', 'Kathmandu', 'Vancouver', 'Cusco', 'Denver', 'Zurich'],
  draw: drawMountains,
};

function drawForest(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  drawSky(d, light, height, random);
  const green = random.pick(['#2f6b48', '#3a7350', '#2c6459']);
  const layers = 5;
  for (let layer = 0; layer < layers; layer++) {
    const share = layer / (layers - 1);
    const ridge = rolling(random, height * (0.54 + 0.34 * share), height * 0.05);
    const color = mix(light.haze, light.on(darker(green, share * 0.45)), 0.26 + 0.72 * share);
    d.path(below(ridge, width, height), color);
    const step = 9 + 16 * share;
    for (let x = -10; x < width + 10; x += step * random.between(0.7, 1.2)) {
      const size = height * (0.07 + 0.22 * share) * random.between(0.75, 1.2);
      drawFir(d, x, heightAt(ridge, x, width) + 0.12 * size, size, color, false);
    }
    if (layer < layers - 1)
      d.rect(
        0,
        Math.round(height * (0.58 + 0.34 * share)),
        width,
        Math.round(height * 0.16),
        d.vertical([light.haze, 0], [light.haze, 0.34], [light.haze, 0]),
      );
  }
}

export const forest: SceneKind = {
  name: 'forest',
  labels: ['forest', 'trees', 'nature'],
  cities: ['Oslo', 'Portland', 'Helsinki', 'Freiburg', 'Vancouver'],
  draw: drawForest,
};

function drawDesert(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  drawSky(d, light, Math.round(height * 0.66), random);
  const sand = random.pick(['#e0a15c', '#d98d52', '#e6b877']);
  if (random.chance(0.5)) {
    const mesa = mix(light.on('#b5603c'), light.haze, 0.35);
    for (const [x, w, h] of [
      [0.12, 0.16, 0.16],
      [0.36, 0.07, 0.2],
      [0.72, 0.22, 0.13],
    ] as const) {
      const left = width * x;
      const foot = height * 0.66;
      const body = `M${at(left - 14)} ${at(foot)} L${at(left)} ${at(foot - height * h)} L${at(left + width * w)} ${at(foot - height * h)} L${at(left + width * w + 16)} ${at(foot)} Z`;
      d.path(body, d.horizontal(lighter(mesa, 0.14), mesa, darker(mesa, 0.25)));
    }
  }
  for (let layer = 0; layer < 4; layer++) {
    const share = layer / 3;
    const ridge = rolling(random, height * (0.62 + 0.1 * layer), height * (0.02 + 0.022 * layer));
    const color = mix(light.haze, light.on(darker(sand, 0.06 * layer)), 0.5 + 0.5 * share);
    const outline = below(ridge, width, height);
    d.path(outline, d.vertical(lighter(color, 0.16), color, darker(color, 0.12)));
    const peak = ridge.indexOf(Math.min(...ridge.slice(8, 56)));
    const x = (peak / 64) * width;
    const y = ridge[peak] as number;
    d.inside(outline, () => {
      d.path(
        `M${at(x)} ${at(y - 2)} C${at(x + 20)} ${at(y + 30)} ${at(x - 30)} ${at(y + 60)} ${at(x + 30)} ${at(y + 130)} L${at(x + width * 0.5)} ${at(y + 130)} L${at(x + width * 0.36)} ${at(y - 4)} Z`,
        d.horizontal([darker(color, 0.45), 0.5], [darker(color, 0.4), 0]),
      );
    });
  }
  if (random.chance(0.5)) {
    const x = width * random.between(0.15, 0.85);
    const y = height * 0.93;
    const green = light.on('#4c7a4a');
    d.line(`M${at(x)} ${at(y)} v-74`, green, 15);
    d.line(`M${at(x)} ${at(y - 26)} h-22 v-24 M${at(x)} ${at(y - 34)} h20 v-26`, green, 9);
  }
}

export const desert: SceneKind = {
  name: 'desert',
  labels: ['desert', 'sand', 'travel'],
  cities: ['Marrakesh', 'Dubai', 'Phoenix', 'Cairo', 'Windhoek'],
  draw: drawDesert,
};

function drawFields(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  drawSky(d, light, Math.round(height * 0.62), random);
  const crop = random.pick(['#d9b23f', '#8f6fc0', '#6fae4a', '#d9b23f', '#c8433a']);
  const far = rolling(random, height * 0.56, height * 0.03);
  d.path(below(far, width, height), mix(light.on('#7fa86a'), light.haze, 0.45));
  const middle = rolling(random, height * 0.62, height * 0.025);
  d.path(below(middle, width, height), d.vertical(mix(light.on('#6aa052'), light.haze, 0.2), light.on('#4c8640')));
  for (let i = 0; i < 7; i++) {
    const x = random.between(0.03, 0.97) * width;
    drawTree(d, x, heightAt(middle, x, width) + 3, height * random.between(0.06, 0.1), light.on('#3c7a40'), random);
  }
  const front = rolling(random, height * 0.7, height * 0.02);
  const outline = below(front, width, height);
  d.path(outline, d.vertical(mix(light.on(crop), light.haze, 0.12), light.on(darker(crop, 0.22))));
  d.inside(outline, () => {
    const vanish = width * random.between(0.3, 0.7);
    for (let i = -14; i <= 14; i++) {
      d.path(
        `M${at(vanish + i * 5)} ${at(height * 0.66)} L${at(vanish + i * 62)} ${height} L${at(vanish + i * 62 + 22)} ${height} Z`,
        light.on(darker(crop, 0.38)),
        'opacity="0.5"',
      );
    }
  });
  if (random.chance(0.6)) {
    const x = width * (random.chance(0.5) ? random.between(0.12, 0.3) : random.between(0.7, 0.88));
    drawTree(d, x, height * 0.76, height * 0.34, light.on('#3f8040'), random);
  }
}

export const fields: SceneKind = {
  name: 'fields',
  labels: ['fields', 'countryside', 'nature'],
  cities: ['Florence', 'Avignon', 'Amsterdam', 'Melbourne', 'Krakow'],
  draw: drawFields,
};

function drawBalloons(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  drawSky(d, light, Math.round(height * 0.8), random);
  d.path(
    below(jagged(random, height * 0.76, height * 0.06), width, height),
    mix(light.on('#a98a78'), light.haze, 0.45),
  );
  const land = rolling(random, height * 0.88, height * 0.025);
  d.path(below(land, width, height), d.vertical(light.on('#9a8a5a'), light.on('#6d6440')));
  const colors = ['#d8352f', '#f0b722', '#2d5fb8', '#2f8f4e', '#ec7a26', '#8a4fb0'];
  const count = random.integer(2, 4);
  const left = random.chance(0.5);
  for (let i = 0; i < count; i++) {
    const share = (i + 0.5) / count;
    const x = width * (left ? 0.06 + 0.56 * share : 0.4 + 0.56 * share);
    const y = height * random.between(0.22, 0.6);
    const size = height * (i === 0 ? 0.19 : random.between(0.07, 0.12));
    const first = light.on(random.pick(colors));
    const second = light.on(random.pick(['#fbf6ea', ...colors]));
    const hull = `M${at(x)} ${at(y - size)} C${at(x + size * 1.15)} ${at(y - size)} ${at(x + size)} ${at(y + size * 0.3)} ${at(x + size * 0.22)} ${at(y + size)} L${at(x - size * 0.22)} ${at(y + size)} C${at(x - size)} ${at(y + size * 0.3)} ${at(x - size * 1.15)} ${at(y - size)} ${at(x)} ${at(y - size)} Z`;
    d.path(hull, first);
    d.inside(hull, () => {
      d.ellipse(Math.round(x), Math.round(y), Math.round(size * 0.58), Math.round(size * 1.05), second);
      d.ellipse(Math.round(x), Math.round(y), Math.round(size * 0.22), Math.round(size * 1.05), first);
      d.rect(
        Math.round(x - size),
        Math.round(y - size),
        Math.round(2 * size),
        Math.round(2 * size),
        d.horizontal(['#ffffff', 0.2], ['#ffffff', 0], ['#120f24', 0.32]),
      );
    });
    d.line(
      `M${at(x - size * 0.18)} ${at(y + size)} L${at(x - size * 0.12)} ${at(y + size * 1.28)} M${at(x + size * 0.18)} ${at(y + size)} L${at(x + size * 0.12)} ${at(y + size * 1.28)}`,
      '#3b2c20',
      1,
    );
    d.rect(
      Math.round(x - size * 0.15),
      Math.round(y + size * 1.26),
      Math.round(size * 0.3),
      Math.round(size * 0.22),
      light.on('#7a5230'),
      2,
    );
    if (light.time === 'night')
      d.glow(Math.round(x), Math.round(y + size * 0.7), Math.round(size * 0.9), '#ffc765', 0.7);
  }
}

export const balloons: SceneKind = {
  name: 'balloons',
  labels: ['balloons', 'sky', 'travel'],
  cities: ['Ankara', 'Albuquerque', 'Bristol', 'Luxor'],
  draw: drawBalloons,
};

function drawCabin(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  drawSky(d, light, Math.round(height * 0.7), random);
  const snow = mix(light.on('#f6f9fd'), light.sky[1] as string, 0.16);
  drawPeaks(d, height * 0.8, height * 0.36, mix(light.on('#8295ad'), light.haze, 0.3), snow, random);
  const far = rolling(random, height * 0.72, height * 0.025);
  d.path(below(far, width, height), d.vertical(snow, darker(snow, 0.1)));
  for (let i = 0; i < 16; i++) {
    const x = random.between(0, width);
    const size = height * random.between(0.1, 0.2);
    const foot = heightAt(far, x, width) + random.between(4, 18);
    drawFir(d, x, foot, size, light.on('#35604c'));
    drawFir(d, x - size * 0.03, foot - size * 0.28, size * 0.66, snow);
  }
  const near = rolling(random, height * 0.84, height * 0.02);
  d.path(below(near, width, height), d.vertical(lighter(snow, 0.2), darker(snow, 0.14)));
  const x = width * (random.chance(0.5) ? random.between(0.18, 0.3) : random.between(0.62, 0.74));
  const y = height * 0.88;
  const wood = light.on(random.pick(['#8a5230', '#9c3f30', '#5d4634']));
  d.rect(Math.round(x), Math.round(y - 52), 96, 52, d.horizontal(lighter(wood, 0.1), darker(wood, 0.18)));
  for (let i = 1; i < 5; i++) d.line(`M${at(x)} ${at(y - 52 + i * 10.4)} h96`, darker(wood, 0.3), 1);
  d.path(
    `M${at(x - 14)} ${at(y - 48)} L${at(x + 22)} ${at(y - 96)} L${at(x + 76)} ${at(y - 96)} L${at(x + 110)} ${at(y - 48)} Z`,
    d.vertical(lighter(snow, 0.4), snow),
  );
  d.rect(Math.round(x + 70), Math.round(y - 112), 12, 24, darker(wood, 0.3));
  const window = light.time === 'day' ? light.on('#9cc4dd') : '#ffd97a';
  for (const left of [14, 62]) {
    d.rect(Math.round(x + left), Math.round(y - 40), 20, 18, window, 2);
    d.line(`M${at(x + left + 10)} ${at(y - 40)} v18 M${at(x + left)} ${at(y - 31)} h20`, darker(wood, 0.3), 1.5);
    if (light.time !== 'day') d.glow(Math.round(x + left + 10), Math.round(y - 31), 26, '#ffd97a', 0.5);
  }
  d.rect(Math.round(x + 40), Math.round(y - 30), 16, 30, darker(wood, 0.42), 2);
}

export const cabin: SceneKind = {
  name: 'cabin',
  labels: ['cabin', 'winter', 'snow'],
  cities: ['Tromsø', 'Innsbruck', 'Sapporo', 'Quebec City'],
  draw: drawCabin,
};
