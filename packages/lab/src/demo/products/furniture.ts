import { type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Appearance, ProductKind } from './kind.ts';
import { round } from './kitchen.ts';

const OAK = '#c99a62';
const WALNUT = '#7a4e30';

function leg(d: Drawing, x1: number, y1: number, x2: number, y2: number, wood: string): void {
  d.line(`M${x1} ${y1} L${x2} ${y2}`, darker(wood, 0.25), 13);
  d.line(`M${x1 - 1.5} ${y1} L${x2 - 1.5} ${y2}`, wood, 8);
}

function shellChair(d: Drawing, { main, random }: Appearance): void {
  const wood = random.chance(0.6) ? OAK : WALNUT;
  leg(d, 206, 290, 150, 398, darker(wood, 0.25));
  leg(d, 276, 290, 338, 398, darker(wood, 0.25));
  d.line('M176 356 L312 356', darker(wood, 0.35), 6);
  d.path(
    'M136 96 C150 74 196 66 244 66 C292 66 338 74 350 98 C360 130 352 190 346 232 L140 232 C132 190 126 130 136 96 Z',
    d.vertical(lighter(main, 0.22), main, darker(main, 0.12)),
  );
  d.path(
    'M156 104 C190 92 290 92 332 106 C338 140 332 190 326 226 L160 226 C152 190 148 140 156 104 Z',
    d.radial(0.4, 0.3, 0.8, lighter(main, 0.3), mix(main, lighter(main, 0.2), 0.4), darker(main, 0.14)),
  );
  d.path(
    'M140 228 C120 240 108 262 118 278 C160 306 326 306 368 278 C376 262 366 240 346 228 C290 246 196 246 140 228 Z',
    d.vertical(lighter(main, 0.26), main, darker(main, 0.32)),
  );
  d.path(
    'M150 240 C200 258 290 258 338 240 C350 252 352 262 344 268 C300 284 186 284 142 268 C134 262 138 252 150 240 Z',
    lighter(main, 0.14),
  );
  leg(d, 168, 290, 118, 402, wood);
  leg(d, 318, 290, 370, 402, wood);
}

function woodenChair(d: Drawing, { main, accent }: Appearance): void {
  const wood = main;
  leg(d, 188, 250, 178, 380, darker(wood, 0.3));
  leg(d, 330, 250, 342, 380, darker(wood, 0.3));
  for (const x of [174, 212, 250, 288, 326]) {
    d.line(`M${x} 90 L${x * 0.86 + 34} 250`, darker(wood, 0.2), x === 174 || x === 326 ? 15 : 9);
    d.line(`M${x - 1} 90 L${x * 0.86 + 33} 250`, wood, x === 174 || x === 326 ? 10 : 5);
  }
  d.path(
    'M158 74 C200 54 300 54 342 74 C348 90 346 104 340 112 C300 96 200 96 160 112 C152 104 152 90 158 74 Z',
    d.vertical(lighter(wood, 0.25), wood, darker(wood, 0.2)),
  );
  d.path(
    'M146 242 L336 242 L366 284 C366 296 358 300 350 300 L132 300 C124 300 116 296 116 284 Z',
    d.vertical(lighter(wood, 0.2), darker(wood, 0.1)),
  );
  d.path(
    'M152 236 C200 226 284 226 330 236 L350 270 C350 282 136 282 132 270 Z',
    d.vertical(lighter(accent, 0.25), accent, darker(accent, 0.25)),
  );
  leg(d, 136, 298, 120, 402, wood);
  leg(d, 346, 298, 364, 402, wood);
  d.line('M130 350 L356 350', darker(wood, 0.2), 8);
}

function armchair(d: Drawing, { main, accent, random }: Appearance): void {
  const wood = random.chance(0.5) ? OAK : WALNUT;
  leg(d, 126, 366, 116, 402, wood);
  leg(d, 354, 366, 364, 402, wood);
  leg(d, 176, 366, 170, 396, darker(wood, 0.2));
  leg(d, 304, 366, 310, 396, darker(wood, 0.2));
  d.path(
    'M122 128 C130 92 180 84 240 84 C300 84 350 92 358 128 L352 300 L128 300 Z',
    d.vertical(lighter(main, 0.22), main, darker(main, 0.14)),
  );
  for (const x of [182, 240, 298])
    for (const y of [132, 182]) {
      d.circle(x, y, 4, darker(main, 0.4));
      d.circle(x - 6, y - 8, 12, lighter(main, 0.3), 'opacity="0.25"');
    }
  d.path(
    'M128 258 C180 244 300 244 352 258 C362 276 362 306 352 318 L128 318 C118 306 118 276 128 258 Z',
    d.vertical(lighter(main, 0.28), main, darker(main, 0.2)),
  );
  d.path(
    'M118 312 L362 312 L358 366 C358 372 354 376 348 376 L132 376 C126 376 122 372 122 366 Z',
    d.vertical(main, darker(main, 0.34)),
  );
  for (const side of [-1, 1]) {
    d.path(
      `M${240 + side * 108} 230 C${240 + side * 112} 202 ${240 + side * 162} 200 ${240 + side * 164} 234 L${240 + side * 156} 360 C${240 + side * 154} 374 ${240 + side * 116} 376 ${240 + side * 112} 362 Z`,
      d.horizontal(lighter(main, side < 0 ? 0.18 : 0.05), darker(main, side < 0 ? 0.12 : 0.3)),
    );
  }
  if (random.chance(0.6))
    d.group('rotate(8 240 240)', () =>
      d.rect(196, 200, 90, 74, d.diagonal(lighter(accent, 0.3), accent, darker(accent, 0.2)), 16),
    );
}

export const chair: ProductKind = {
  name: 'chair',
  category: 'furniture',
  labels: ['chair', 'furniture', 'home'],
  variants: ['shell chair', 'wooden chair', 'armchair'],
  price: [79, 399],
  draw(d, look) {
    [shellChair, woodenChair, armchair][look.variant]?.(d, look);
  },
};

function drawSofa(d: Drawing, { main, accent, variant, random }: Appearance): void {
  const wood = random.chance(0.5) ? OAK : '#2d2a2a';
  for (const x of [66, 414]) leg(d, x, 366, x + (x < 240 ? -6 : 6), 402, wood);
  const seats = variant === 0 ? 2 : 3;
  const back = variant === 1 ? 176 : 190;
  d.path(
    `M62 ${back + 20} C62 ${back - 8} 84 ${back - 14} 110 ${back - 14} L370 ${back - 14} C396 ${back - 14} 418 ${back - 8} 418 ${back + 20} L414 330 L66 330 Z`,
    d.vertical(lighter(main, 0.14), darker(main, 0.16)),
  );
  const width = 320 / seats;
  for (let i = 0; i < seats; i++) {
    const x = 80 + i * width;
    d.rect(x + 2, back, width - 4, 116, d.vertical(lighter(main, 0.26), main, darker(main, 0.12)), 18);
    d.rect(x + 1, 284, width - 2, 50, d.vertical(lighter(main, 0.34), main, darker(main, 0.26)), 14);
  }
  d.path(
    'M50 326 L430 326 L426 370 C426 376 422 380 416 380 L64 380 C58 380 54 376 54 370 Z',
    d.vertical(main, darker(main, 0.36)),
  );
  for (const side of [-1, 1]) {
    const x = side < 0 ? 34 : 390;
    d.rect(
      x,
      238,
      56,
      142,
      d.horizontal(lighter(main, side < 0 ? 0.2 : 0.06), darker(main, side < 0 ? 0.14 : 0.32)),
      22,
    );
  }
  d.group('rotate(-9 130 260)', () =>
    d.rect(98, 214, 76, 72, d.diagonal(lighter(accent, 0.35), accent, darker(accent, 0.22)), 14),
  );
  if (variant !== 0)
    d.group('rotate(10 350 260)', () => d.rect(312, 216, 70, 68, d.diagonal('#fffdf7', '#e4dccd'), 14));
}

export const sofa: ProductKind = {
  name: 'sofa',
  category: 'furniture',
  labels: ['sofa', 'furniture', 'home'],
  variants: ['two-seat sofa', 'three-seat sofa'],
  price: [399, 1499],
  draw: drawSofa,
};

function drawLamp(d: Drawing, { main, accent, variant, random }: Appearance): void {
  const lit = random.chance(0.7);
  if (variant === 0) {
    d.ellipse(240, 392, 70, 14, darker(accent, 0.2));
    d.path('M170 388 C176 372 304 372 310 388 Q240 402 170 388 Z', round(d, accent));
    d.path(
      'M222 380 C204 330 196 300 214 268 C226 246 228 236 228 222 L252 222 C252 236 254 246 266 268 C284 300 276 330 258 380 Z',
      round(d, accent),
    );
    if (lit) d.glow(240, 170, 210, '#ffe3a0', 0.5);
    d.path(
      'M182 84 L298 84 L356 232 Q240 254 124 232 Z',
      d.horizontal(
        darker(main, 0.2),
        lighter(main, lit ? 0.45 : 0.2),
        lighter(main, lit ? 0.6 : 0.25),
        main,
        darker(main, 0.25),
      ),
    );
    d.ellipse(240, 84, 58, 9, darker(main, 0.3));
    d.line('M126 232 Q240 254 354 232', lighter(main, 0.3), 4);
  } else if (variant === 1) {
    const metal = main;
    d.path('M118 392 C124 372 236 372 242 392 Q180 406 118 392 Z', round(d, metal));
    d.line('M180 380 L150 232', darker(metal, 0.15), 12);
    d.line('M178 380 L148 232', lighter(metal, 0.2), 4);
    d.line('M150 232 L286 128', darker(metal, 0.15), 12);
    d.line('M149 229 L285 125', lighter(metal, 0.2), 4);
    d.circle(150, 232, 14, d.radial(0.35, 0.3, 0.8, lighter(accent, 0.4), accent));
    d.circle(286, 128, 12, d.radial(0.35, 0.3, 0.8, lighter(accent, 0.4), accent));
    d.group('translate(286 128) rotate(-28)', () => {
      if (lit) d.path('M-66 122 L66 122 L150 330 L-150 330 Z', d.vertical(['#ffe3a0', 0.6], ['#ffe3a0', 0]));
      d.path(
        'M-22 8 L22 8 C28 46 66 72 76 122 Q0 142 -76 122 C-66 72 -28 46 -22 8 Z',
        d.horizontal(darker(metal, 0.2), lighter(metal, 0.35), metal, darker(metal, 0.3)),
      );
      d.ellipse(0, 123, 75, 13, lit ? '#fff3cc' : darker(metal, 0.5));
      d.rect(-18, -10, 36, 24, round(d, accent), 8);
    });
  } else {
    d.line('M240 0 L240 128', '#3a3a40', 4);
    if (lit) d.glow(240, 300, 190, '#ffe6a8', 0.6);
    d.path(
      'M214 126 L266 126 C272 176 350 200 372 290 Q240 326 108 290 C130 200 208 176 214 126 Z',
      d.horizontal(darker(main, 0.3), lighter(main, 0.3), lighter(main, 0.1), main, darker(main, 0.35)),
    );
    d.ellipse(240, 291, 132, 18, lit ? '#fff1c4' : darker(main, 0.55));
    d.circle(240, 294, 24, lit ? '#fffbe8' : '#e8e4da');
    d.rect(222, 106, 36, 26, round(d, accent), 6);
  }
}

export const lamp: ProductKind = {
  name: 'lamp',
  category: 'lighting',
  labels: ['lamp', 'lighting', 'home'],
  variants: ['table lamp', 'desk lamp', 'pendant lamp'],
  price: [29, 219],
  draw: drawLamp,
};

function drawClock(d: Drawing, { main, accent, variant, random }: Appearance): void {
  const face = mix('#ffffff', main, 0.06);
  if (variant === 0) {
    d.circle(240, 232, 170, d.diagonal(lighter(main, 0.35), main, darker(main, 0.4)));
    d.circle(240, 232, 148, darker(main, 0.35));
    d.circle(240, 234, 146, d.radial(0.4, 0.35, 0.8, '#ffffff', face, darker(face, 0.1)));
  } else {
    d.rect(76, 68, 328, 328, d.diagonal(lighter(main, 0.35), main, darker(main, 0.4)), 64);
    d.circle(240, 232, 140, d.radial(0.4, 0.35, 0.8, '#ffffff', face, darker(face, 0.12)));
  }
  for (let i = 0; i < 12; i++) {
    d.group(`rotate(${i * 30} 240 232)`, () =>
      d.rect(i % 3 === 0 ? 235 : 237, 106, i % 3 === 0 ? 10 : 5, i % 3 === 0 ? 30 : 20, '#2b2b33', 2),
    );
  }
  const hour = random.integer(0, 11);
  const minute = random.integer(0, 11) * 30;
  d.group(`rotate(${hour * 30 + minute / 12} 240 232)`, () => d.rect(234, 158, 12, 86, '#24242c', 6));
  d.group(`rotate(${minute} 240 232)`, () => d.rect(236, 118, 8, 126, '#24242c', 4));
  d.group(`rotate(${random.integer(0, 359)} 240 232)`, () => d.rect(238.5, 112, 3, 150, accent, 1));
  d.circle(240, 232, 10, accent);
}

export const clock: ProductKind = {
  name: 'clock',
  category: 'home',
  labels: ['clock', 'home'],
  variants: ['round wall clock', 'square wall clock'],
  price: [19, 99],
  floating: true,
  draw: drawClock,
};
