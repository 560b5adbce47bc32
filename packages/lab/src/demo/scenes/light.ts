import { at, type Drawing, darker, mix, type Stop } from '../drawing.ts';
import type { Random } from '../random.ts';

export const TIMES = ['dawn', 'day', 'sunset', 'night'] as const;
export type Time = (typeof TIMES)[number];

/** The light of a time of day. */
export interface Light {
  readonly time: Time;
  /** Colours from the top of the sky to the horizon. */
  readonly sky: readonly string[];
  /** Colour of sun or moon. */
  readonly orb: string;
  /** Colour of distant objects. */
  readonly haze: string;
  /** Converts a colour of the land to this light. */
  readonly on: (color: string) => string;
}

const SKIES: Record<Time, readonly (readonly string[])[]> = {
  dawn: [
    ['#7f9fd0', '#c9b9d8', '#f6c9b2', '#ffe6c0'],
    ['#6d87b8', '#a9a7cf', '#e9b4bd', '#fbd9c3'],
  ],
  day: [
    ['#2f84d0', '#62aee6', '#a9d6f3', '#e2f2fa'],
    ['#4a9bdc', '#86c3ea', '#c3e3f4', '#eef7f8'],
  ],
  sunset: [
    ['#3a3272', '#8d4688', '#e8716a', '#ffb45e', '#ffe09a'],
    ['#4b3a6b', '#a64d6e', '#f08a55', '#ffcb78'],
  ],
  night: [
    ['#050a20', '#0c1738', '#1a2a58', '#34477c'],
    ['#070818', '#141435', '#2a2557', '#4a3c78'],
  ],
};

export function lightOf(time: Time, random: Random): Light {
  const sky = random.pick(SKIES[time]);
  const haze = sky[sky.length - 1] as string;
  const on: Record<Time, (color: string) => string> = {
    dawn: (color) => mix(color, '#d79a94', 0.24),
    day: (color) => color,
    sunset: (color) => mix(darker(color, 0.38), '#b4503f', 0.28),
    night: (color) => mix(darker(color, 0.5), '#2a3d78', 0.42),
  };
  return {
    time,
    sky,
    haze,
    orb: { dawn: '#fff1cf', day: '#fffbe2', sunset: '#fff0b8', night: '#f3f1df' }[time],
    on: on[time],
  };
}

/** Draws the sky, with stars at night, and a sun or moon, and returns its position. */
export function drawSky(d: Drawing, light: Light, horizon: number, random: Random): { x: number; y: number } {
  const { width, height: bottom } = d;
  d.rect(0, 0, width, bottom, light.haze);
  d.rect(0, 0, width, horizon + 2, d.vertical(...(light.sky as readonly Stop[])));
  const side = random.chance(0.5) ? random.between(0.14, 0.34) : random.between(0.66, 0.86);
  const x = Math.round(width * side);
  const height = { dawn: 0.84, day: 0.24, sunset: 0.82, night: 0.26 }[light.time];
  const y = Math.round(horizon * height);
  if (light.time === 'night') {
    for (let i = 0; i < 110; i++) {
      const star = random.between(0.4, 1.3);
      d.circle(
        Math.round(random.between(0, width)),
        Math.round(random.between(0, horizon * 0.92)),
        Math.round(star * 10) / 10,
        '#ffffff',
        `opacity="${at(random.between(0.3, 1))}"`,
      );
    }
    d.glow(x, y, 70, '#cfd8ff', 0.4);
    if (random.chance(0.5)) d.circle(x, y, 19, light.orb);
    else
      d.path(
        `M${x} ${y - 19} A19 19 0 1 1 ${x} ${y + 19} A15 19 0 1 0 ${x} ${y - 19} Z`,
        light.orb,
        `transform="rotate(28 ${x} ${y})"`,
      );
  } else {
    d.glow(x, y, light.time === 'day' ? 90 : 150, light.orb, light.time === 'day' ? 0.7 : 0.75);
    d.circle(x, y, light.time === 'day' ? 21 : 26, light.orb);
    if (light.time === 'day' && random.chance(0.6)) drawClouds(d, horizon, random, x);
  }
  return { x, y };
}

function drawClouds(d: Drawing, horizon: number, random: Random, sun: number): void {
  const x = sun > d.width / 2 ? random.between(0.1, 0.3) * d.width : random.between(0.7, 0.88) * d.width;
  const y = horizon * random.between(0.45, 0.7);
  const size = random.between(0.7, 1.2);
  d.group(`translate(${at(x)} ${at(y)}) scale(${at(size)})`, () => {
    for (const [cx, cy, rx, ry] of [
      [-46, 6, 34, 12],
      [-14, -4, 36, 20],
      [24, 0, 40, 16],
      [58, 8, 26, 9],
      [4, 10, 70, 9],
    ] as const) {
      d.ellipse(cx, cy, rx, ry, '#ffffff', 'opacity="0.78"');
    }
  });
}
