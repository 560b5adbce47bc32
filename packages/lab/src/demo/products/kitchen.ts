import { at, type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Appearance, ProductKind } from './kind.ts';

/** A gradient for a round body lit from the left. */
export function round(d: Drawing, color: string): string {
  return d.horizontal(
    darker(color, 0.22),
    lighter(color, 0.12),
    lighter(color, 0.32),
    color,
    darker(color, 0.14),
    darker(color, 0.36),
  );
}

function pattern(
  d: Drawing,
  { accent, random }: Appearance,
  left: number,
  right: number,
  top: number,
  bottom: number,
): void {
  const style = random.integer(0, 4);
  const middle = (left + right) / 2;
  const height = bottom - top;
  if (style === 0) {
    for (let i = 0; i < 3; i++) {
      const y = top + height * (0.3 + 0.16 * i);
      d.path(
        `M${left} ${at(y)} Q${middle} ${at(y + 22)} ${right} ${at(y)} L${right} ${at(y + 14)} Q${middle} ${at(y + 36)} ${left} ${at(y + 14)} Z`,
        accent,
      );
    }
  } else if (style === 1) {
    for (let row = 0; row < 5; row++) {
      for (let column = -3; column <= 3; column++) {
        const x = middle + (column + (row % 2) / 2) * 36;
        d.circle(x, Math.round(top + height * (0.18 + 0.16 * row)), 9, accent);
      }
    }
  } else if (style === 2) {
    const y = top + height * 0.42;
    d.path(
      `M${middle} ${at(y + 62)} C${middle - 86} ${at(y + 4)} ${middle - 44} ${at(y - 48)} ${middle} ${at(y - 10)} C${middle + 44} ${at(y - 48)} ${middle + 86} ${at(y + 4)} ${middle} ${at(y + 62)} Z`,
      accent,
    );
  } else if (style === 3) {
    const y = top + height * 0.62;
    d.path(
      `M${left} ${at(y)} Q${middle} ${at(y + 22)} ${right} ${at(y)} L${right} ${bottom + 30} L${left} ${bottom + 30} Z`,
      accent,
    );
  }
}

function drawMug(d: Drawing, look: Appearance): void {
  const { main, variant } = look;
  const [left, right, top, bottom, lower] = (
    [
      [120, 318, 176, 384, 12],
      [110, 322, 200, 384, 44],
      [140, 300, 128, 388, 6],
    ] as const
  )[variant] ?? [120, 318, 176, 384, 12];
  const middle = (left + right) / 2;
  const handle = `M${right - 14} ${top + 44} C${right + 88} ${top + 28} ${right + 92} ${bottom - 44} ${right - 26} ${bottom - 40}`;
  d.line(handle, darker(main, 0.3), 30);
  d.line(handle, main, 24);
  d.line(
    `M${right - 10} ${top + 38} C${right + 80} ${top + 24} ${right + 84} ${bottom - 60} ${right + 6} ${bottom - 48}`,
    lighter(main, 0.4),
    5,
    'opacity="0.7"',
  );
  const body = `M${left} ${top} C${left} ${bottom - 30} ${left + lower} ${bottom} ${left + 34 + lower} ${bottom + 10} Q${middle} ${bottom + 22} ${right - 34 - lower} ${bottom + 10} C${right - lower} ${bottom} ${right} ${bottom - 30} ${right} ${top} Z`;
  d.path(body, main);
  d.inside(body, () => {
    pattern(d, look, left, right, top, bottom);
    d.rect(
      left,
      top,
      right - left,
      bottom - top + 40,
      d.horizontal(
        ['#120f24', 0.22],
        ['#ffffff', 0.18],
        ['#ffffff', 0.34],
        ['#ffffff', 0],
        ['#120f24', 0.12],
        ['#120f24', 0.36],
      ),
    );
  });
  d.ellipse(middle, top, (right - left) / 2, 24, lighter(main, 0.35));
  d.ellipse(middle, top + 3, (right - left) / 2 - 8, 19, darker(main, 0.35));
  d.ellipse(middle, top + 9, (right - left) / 2 - 14, 13, d.horizontal('#3a2115', '#6d4426', '#4b2c19'));
}

export const mug: ProductKind = {
  name: 'mug',
  category: 'kitchen',
  labels: ['mug', 'kitchen', 'coffee'],
  variants: ['straight mug', 'wide cup', 'tall mug'],
  price: [9, 29],
  draw: drawMug,
};

function flask(d: Drawing, { main, accent, random }: Appearance): void {
  const body =
    'M176 190 C176 168 196 156 206 142 L206 128 L274 128 L274 142 C284 156 304 168 304 190 L304 384 C304 396 296 402 284 402 L196 402 C184 402 176 396 176 384 Z';
  d.path(body, round(d, main));
  d.inside(body, () => {
    if (random.chance(0.6)) d.rect(170, 300, 140, 34, accent, 0, 'opacity="0.9"');
    d.rect(170, 386, 140, 20, '#c9ccd1');
    d.rect(196, 150, 9, 240, '#ffffff', 4, 'opacity="0.45"');
  });
  d.rect(200, 72, 80, 58, round(d, '#3a3d44'), 10);
  d.line('M218 74 C218 42 262 42 262 74', '#2c2f35', 10);
  d.rect(198, 122, 84, 10, round(d, '#b9bdc4'), 4);
}

function wine(d: Drawing, { main, accent }: Appearance): void {
  const glass = mix(main, '#10241a', 0.55);
  const body =
    'M182 232 C182 190 214 176 218 146 L218 70 L262 70 L262 146 C266 176 298 190 298 232 L298 386 C298 398 290 403 280 403 L200 403 C190 403 182 398 182 386 Z';
  d.path(body, round(d, glass));
  d.inside(body, () => {
    d.rect(196, 196, 10, 200, '#ffffff', 5, 'opacity="0.3"');
    d.rect(214, 60, 52, 74, round(d, accent));
    d.rect(176, 256, 128, 104, d.horizontal('#d8d0bd', '#fbf6e9', '#f3ecd9', '#cfc6b0'));
    d.rect(176, 256, 128, 8, accent);
    d.rect(176, 352, 128, 8, accent);
    d.path(
      'M240 282 C252 300 262 306 262 320 C262 334 252 340 240 340 C228 340 218 334 218 320 C218 306 228 300 240 282 Z',
      main,
    );
  });
  d.rect(212, 62, 56, 14, round(d, darker(accent, 0.2)), 4);
}

function sport(d: Drawing, { main, accent }: Appearance): void {
  const body =
    'M170 176 C170 160 186 150 200 146 L280 146 C294 150 310 160 310 176 L302 262 C298 276 298 288 302 300 L310 384 C310 396 300 402 290 402 L190 402 C180 402 170 396 170 384 L178 300 C182 288 182 276 178 262 Z';
  d.path(body, round(d, mix(main, '#ffffff', 0.12)));
  d.inside(body, () => {
    d.path('M160 210 L320 250 L320 296 L160 256 Z', accent, 'opacity="0.9"');
    d.rect(190, 150, 10, 250, '#ffffff', 5, 'opacity="0.4"');
  });
  d.path('M192 148 C192 118 206 108 222 104 L258 104 C274 108 288 118 288 148 Z', round(d, darker(accent, 0.15)));
  d.rect(224, 66, 32, 42, round(d, lighter(accent, 0.3)), 8);
}

export const bottle: ProductKind = {
  name: 'bottle',
  category: 'kitchen',
  labels: ['bottle', 'kitchen', 'drink'],
  variants: ['insulated bottle', 'wine bottle', 'sports bottle'],
  price: [12, 45],
  draw(d, look) {
    [flask, wine, sport][look.variant]?.(d, look);
  },
};

function drawTeapot(d: Drawing, look: Appearance): void {
  const { main, accent, variant } = look;
  const tall = variant === 1;
  const top = tall ? 150 : 196;
  const wide = tall ? 92 : 124;
  const spout = tall
    ? 'M316 300 C360 290 352 220 404 196 L420 212 C388 240 392 330 312 352 Z'
    : 'M338 310 C384 296 376 250 424 226 L440 242 C408 272 408 344 326 356 Z';
  const handle = tall ? `M152 230 C70 214 66 352 156 340` : `M128 262 C40 240 44 366 138 352`;
  d.line(handle, darker(main, 0.35), 28);
  d.line(handle, darker(main, 0.1), 21);
  d.path(spout, d.vertical(lighter(main, 0.2), darker(main, 0.25)));
  const body = `M${240 - wide * 0.5} ${top} C${240 - wide * 1.25} ${top + 40} ${240 - wide * 1.2} 370 ${240 - wide * 0.62} 394 Q240 408 ${240 + wide * 0.62} 394 C${240 + wide * 1.2} 370 ${240 + wide * 1.25} ${top + 40} ${240 + wide * 0.5} ${top} Z`;
  d.path(body, main);
  d.inside(body, () => {
    pattern(d, look, 240 - wide, 240 + wide, top, 396);
    d.rect(
      100,
      top - 10,
      280,
      420 - top,
      d.horizontal(
        ['#120f24', 0.2],
        ['#ffffff', 0.2],
        ['#ffffff', 0.34],
        ['#ffffff', 0],
        ['#120f24', 0.16],
        ['#120f24', 0.4],
      ),
    );
    d.ellipse(200, top + 70, 22, 46, '#ffffff', 'opacity="0.22"');
  });
  d.path(
    `M${240 - wide * 0.58} ${top + 6} C${240 - wide * 0.5} ${top - 34} ${240 + wide * 0.5} ${top - 34} ${240 + wide * 0.58} ${top + 6} Q240 ${top + 22} ${240 - wide * 0.58} ${top + 6} Z`,
    round(d, mix(main, accent, 0.25)),
  );
  d.circle(240, top - 34, 17, d.radial(0.35, 0.3, 0.8, lighter(accent, 0.4), accent, darker(accent, 0.3)));
}

export const teapot: ProductKind = {
  name: 'teapot',
  category: 'kitchen',
  labels: ['teapot', 'kitchen', 'tea'],
  variants: ['round teapot', 'tall teapot'],
  price: [24, 79],
  draw: drawTeapot,
};
