import { at, type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Random } from '../random.ts';
import type { SceneKind } from './kind.ts';
import { below, drawFir, drawGlints, heightAt, jagged, rolling } from './land.ts';
import { drawSky, type Light } from './light.ts';

function drawPalm(d: Drawing, x: number, y: number, height: number, light: Light, lean: number): void {
  const trunk = light.on('#7a5836');
  const topX = x + lean * height * 0.35;
  const topY = y - height;
  d.path(
    `M${at(x - 6)} ${at(y)} Q${at(x + lean * 4)} ${at(y - height * 0.6)} ${at(topX - 3)} ${at(topY)} L${at(topX + 3)} ${at(topY)} Q${at(x + lean * 4 + 9)} ${at(y - height * 0.6)} ${at(x + 7)} ${at(y)} Z`,
    trunk,
  );
  for (const angle of [-170, -145, -110, -70, -35, -10]) {
    const radians = (angle * Math.PI) / 180;
    const length = height * 0.52;
    const tipX = topX + Math.cos(radians) * length;
    const tipY = topY + Math.sin(radians) * length * 0.55 + length * 0.35;
    const midX = topX + Math.cos(radians) * length * 0.55;
    const midY = topY + Math.sin(radians) * length * 0.7 - length * 0.06;
    d.path(
      `M${at(topX)} ${at(topY)} Q${at(midX)} ${at(midY - 8)} ${at(tipX)} ${at(tipY)} Q${at(midX)} ${at(midY + 14)} ${at(topX)} ${at(topY)} Z`,
      light.on(angle < -90 ? '#2e7a3f' : '#3f9048'),
    );
  }
}

function drawSail(d: Drawing, x: number, y: number, size: number, light: Light, color: string): void {
  d.path(
    `M${at(x)} ${at(y - size)} L${at(x + size * 0.5)} ${at(y - size * 0.14)} L${at(x)} ${at(y - size * 0.14)} Z`,
    light.on('#fbfaf5'),
  );
  d.path(
    `M${at(x - 2)} ${at(y - size * 0.86)} L${at(x - size * 0.36)} ${at(y - size * 0.14)} L${at(x - 2)} ${at(y - size * 0.14)} Z`,
    light.on(color),
  );
  d.path(
    `M${at(x - size * 0.44)} ${at(y - size * 0.1)} L${at(x + size * 0.54)} ${at(y - size * 0.1)} L${at(x + size * 0.4)} ${at(y + size * 0.06)} L${at(x - size * 0.34)} ${at(y + size * 0.06)} Z`,
    light.on('#7b3f2a'),
  );
}

function drawBeach(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  const horizon = Math.round(height * random.between(0.5, 0.58));
  const orb = drawSky(d, light, horizon, random);
  const shore = Math.round(height * random.between(0.74, 0.82));
  const sea = random.pick(['#1f86b4', '#1a9aa8', '#2873b0']);
  d.rect(
    0,
    horizon,
    width,
    height - horizon,
    d.vertical(mix(light.on(sea), light.haze, 0.45), light.on(sea), light.on(lighter(sea, 0.35))),
  );
  drawGlints(d, orb.x, horizon, shore, light.time === 'day' ? '#ffffff' : light.orb, random);
  if (random.chance(0.6))
    drawSail(
      d,
      random.between(0.3, 0.7) * width,
      horizon + 12,
      random.between(26, 44),
      light,
      random.pick(['#d8412f', '#f0b722', '#2d5fb8']),
    );
  const bend = random.between(-26, 26);
  const sand = light.on('#ecd3a2');
  const edge = (lift: number): string =>
    `M0 ${shore - lift} C${at(width * 0.3)} ${at(shore - 16 + bend - lift)} ${at(width * 0.6)} ${at(shore + 22 - bend - lift)} ${width} ${at(shore + bend * 0.5 - lift)}`;
  d.path(`${edge(9)} L${width} ${height} L0 ${height} Z`, light.on('#f7fbf8'), 'opacity="0.55"');
  d.path(`${edge(2)} L${width} ${height} L0 ${height} Z`, light.on('#ffffff'), 'opacity="0.8"');
  d.path(`${edge(-4)} L${width} ${height} L0 ${height} Z`, d.vertical(darker(sand, 0.16), sand, lighter(sand, 0.14)));
  const left = orb.x > width / 2;
  if (random.chance(0.6)) {
    drawPalm(d, width * (left ? 0.1 : 0.9), height + 4, Math.min(height * 0.66, width * 0.5), light, left ? 1 : -1);
  } else {
    const x = width * (left ? 0.24 : 0.76);
    const y = height * 0.93;
    const color = random.pick(['#d8352f', '#f0b722', '#2d5fb8', '#2f8f4e']);
    d.shadow(x + 16, y + 2, 54, 9, 0.35);
    d.line(`M${at(x)} ${at(y)} L${at(x - 10)} ${at(y - 78)}`, light.on('#f2efe8'), 4);
    d.path(
      `M${at(x - 70)} ${at(y - 62)} C${at(x - 56)} ${at(y - 112)} ${at(x + 20)} ${at(y - 122)} ${at(x + 46)} ${at(y - 78)} Q${at(x - 10)} ${at(y - 86)} ${at(x - 70)} ${at(y - 62)} Z`,
      light.on(color),
    );
    d.path(
      `M${at(x - 34)} ${at(y - 74)} C${at(x - 30)} ${at(y - 100)} ${at(x - 18)} ${at(y - 110)} ${at(x - 12)} ${at(y - 112)} C${at(x + 2)} ${at(y - 106)} ${at(x + 8)} ${at(y - 92)} ${at(x + 8)} ${at(y - 81)} Z`,
      light.on('#fbfaf5'),
    );
  }
}

export const beach: SceneKind = {
  name: 'beach',
  labels: ['beach', 'sea', 'travel'],
  cities: ['Honolulu', 'Rio de Janeiro', 'Barcelona', 'Sydney', 'Cape Town', 'Phuket'],
  draw: drawBeach,
};

function drawLake(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  const horizon = Math.round(height * random.between(0.56, 0.62));
  const orb = drawSky(d, light, horizon, random);
  const far = jagged(random, horizon - height * 0.19, height * 0.15, 0.5);
  const near = rolling(random, horizon - height * 0.07, height * 0.035);
  const land = (): void => {
    d.path(
      below(far, width, horizon),
      d.vertical(mix(light.on('#5f7a9c'), light.haze, 0.3), mix(light.on('#7d93a8'), light.haze, 0.5)),
    );
    d.path(below(near, width, horizon), d.vertical(mix(light.on('#4d8a5a'), light.haze, 0.15), light.on('#2f6b45')));
    for (let i = 0; i < 22; i++) {
      const x = (i / 21) * width + (i % 3) * 5;
      drawFir(d, x, heightAt(near, x, width) + 6, height * (0.055 + ((i * 7) % 5) * 0.011), light.on('#245439'));
    }
  };
  land();
  const water = light.on('#3f86a8');
  d.rect(0, horizon, width, height - horizon, mix(light.sky[1] as string, water, 0.4));
  d.inside(`M0 ${horizon} H${width} V${height} H0 Z`, () => {
    d.group(`translate(0 ${2 * horizon}) scale(1 -1)`, land);
    d.rect(
      0,
      horizon,
      width,
      height - horizon,
      d.vertical([mix(light.haze, water, 0.4), 0.35], [water, 0.6], [darker(water, 0.3), 0.85]),
    );
  });
  drawGlints(d, orb.x, horizon, height, light.orb, random);
  for (let i = 0; i < 12; i++) {
    const y = horizon + 6 + i * i * 0.9;
    d.line(
      `M${at(random.between(0, width * 0.6))} ${at(y)} h${at(random.between(40, 150))}`,
      '#ffffff',
      0.8,
      'opacity="0.25"',
    );
  }
  if (random.chance(0.6)) {
    const x = width * (orb.x > width / 2 ? 0.22 : 0.7);
    const wood = light.on('#8a6440');
    d.path(
      `M${at(x - 8)} ${at(horizon + 34)} L${at(x + 22)} ${at(horizon + 34)} L${at(x + 64)} ${height} L${at(x - 44)} ${height} Z`,
      d.vertical(wood, lighter(wood, 0.14)),
    );
    for (let i = 0; i < 9; i++) {
      const share = i / 9;
      const y = horizon + 34 + (height - horizon - 34) * share * share;
      const half = 15 + 40 * share * share;
      d.line(`M${at(x + 8 - half)} ${at(y)} L${at(x + 8 + half)} ${at(y)}`, darker(wood, 0.35), 1.4);
    }
  }
}

export const lake: SceneKind = {
  name: 'lake',
  labels: ['lake', 'water', 'nature'],
  cities: ['Zurich', 'Geneva', 'Queenstown', 'Bariloche', 'Salzburg'],
  draw: drawLake,
};

function drawLighthouse(d: Drawing, light: Light, random: Random): void {
  const { width, height } = d;
  const horizon = Math.round(height * 0.62);
  const orb = drawSky(d, light, horizon, random);
  const sea = light.on(random.pick(['#2b6f9e', '#2a7f8f', '#35608f']));
  d.rect(0, horizon, width, height - horizon, d.vertical(mix(sea, light.haze, 0.5), sea, darker(sea, 0.3)));
  drawGlints(d, orb.x, horizon, height, light.orb, random);
  const right = orb.x < width / 2;
  d.group(right ? '' : `translate(${width} 0) scale(-1 1)`, () => {
    const rock = light.on('#6a5f58');
    const grass = light.on('#5f8a4c');
    d.path(
      `M${at(width * 0.5)} ${height} L${at(width * 0.56)} ${at(height * 0.84)} L${at(width * 0.6)} ${at(height * 0.74)} L${at(width * 0.68)} ${at(height * 0.69)} L${width} ${at(height * 0.62)} L${width} ${height} Z`,
      d.horizontal(darker(rock, 0.2), lighter(rock, 0.14), rock),
    );
    d.path(
      `M${at(width * 0.6)} ${at(height * 0.74)} L${at(width * 0.68)} ${at(height * 0.69)} L${width} ${at(height * 0.62)} L${width} ${at(height * 0.7)} L${at(width * 0.74)} ${at(height * 0.76)} Z`,
      grass,
    );
    for (const [x, y] of [
      [0.58, 0.9],
      [0.66, 0.84],
      [0.76, 0.88],
      [0.86, 0.82],
    ] as const) {
      d.path(`M${at(width * x)} ${at(height * y)} l18 -12 l10 30 l-20 18 Z`, '#120f24', 'opacity="0.16"');
    }
    const x = width * 0.78;
    const foot = height * 0.69;
    const top = height * 0.3;
    const stripe = light.on(random.pick(['#c8322c', '#24406f', '#c8322c']));
    const tower = `M${at(x - 20)} ${at(foot)} L${at(x - 13)} ${at(top)} L${at(x + 13)} ${at(top)} L${at(x + 20)} ${at(foot)} Z`;
    if (light.time === 'night' || light.time === 'sunset') {
      d.path(
        `M${at(x)} ${at(top - 12)} L${at(x - width * 0.62)} ${at(top - 52)} L${at(x - width * 0.62)} ${at(top + 22)} Z`,
        d.horizontal(['#fff3c4', 0], ['#fff3c4', 0.5]),
      );
    }
    d.path(tower, light.on('#f6f4ee'));
    d.inside(tower, () => {
      for (let i = 0; i < 3; i++)
        d.rect(
          Math.round(x - 24),
          Math.round(top + (foot - top) * (0.1 + i * 0.32)),
          48,
          Math.round((foot - top) * 0.16),
          stripe,
        );
      d.rect(
        Math.round(x - 24),
        Math.round(top),
        48,
        Math.round(foot - top),
        d.horizontal(['#120f24', 0.1], ['#ffffff', 0.15], ['#120f24', 0.35]),
      );
    });
    d.rect(Math.round(x - 18), Math.round(top - 4), 36, 6, light.on('#3a3d46'));
    d.rect(Math.round(x - 10), Math.round(top - 22), 20, 18, '#ffe9a6');
    d.path(`M${at(x - 15)} ${at(top - 21)} L${at(x)} ${at(top - 38)} L${at(x + 15)} ${at(top - 21)} Z`, stripe);
    if (light.time !== 'day') d.glow(Math.round(x), Math.round(top - 13), 34, '#fff0b8', 0.8);
  });
}

export const lighthouse: SceneKind = {
  name: 'lighthouse',
  labels: ['lighthouse', 'sea', 'coast'],
  cities: ['Lisbon', 'Halifax', 'Reykjavik', 'Galway', 'A Coruña'],
  draw: drawLighthouse,
};
