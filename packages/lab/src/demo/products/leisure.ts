import { at, type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Appearance, ProductKind } from './kind.ts';
import { round } from './kitchen.ts';

function wheel(d: Drawing, x: number, y: number, radius: number, tyre: string): void {
  for (let i = 0; i < 14; i++) {
    const angle = (i * Math.PI) / 14;
    const dx = Math.cos(angle) * radius;
    const dy = Math.sin(angle) * radius;
    d.line(`M${at(x - dx)} ${at(y - dy)} L${at(x + dx)} ${at(y + dy)}`, '#9ba0a8', 1.3);
  }
  d.circle(x, y, radius, 'none', `stroke="${tyre}" stroke-width="10"`);
  d.circle(x, y, radius - 7, 'none', 'stroke="#c3c7ce" stroke-width="3"');
  d.circle(x, y, 9, '#6b7079');
}

function drawBike(d: Drawing, { main, accent, variant }: Appearance): void {
  const tyre = variant === 2 ? mix(accent, '#d8b98a', 0.5) : '#26262b';
  wheel(d, 112, 306, 92, tyre);
  wheel(d, 368, 306, 92, tyre);
  const frame = (path: string, width = 12): void => {
    d.line(path, darker(main, 0.3), width);
    d.line(path, main, width - 3);
    d.line(path, lighter(main, 0.45), 2, 'opacity="0.7" transform="translate(-1 -2)"');
  };
  d.line('M112 306 L222 314', '#55585f', 3);
  d.line('M116 298 L224 300', '#55585f', 3);
  frame('M112 306 L192 190', 8);
  frame('M112 306 L222 306', 8);
  if (variant === 1) frame('M222 306 C246 250 300 214 330 196');
  else frame('M222 306 L330 196');
  frame('M222 306 L184 172');
  if (variant !== 1) frame(variant === 2 ? 'M190 186 L326 176' : 'M190 190 L328 182');
  else frame('M206 250 C240 232 290 204 328 178');
  frame('M368 306 L326 160', 10);
  d.circle(222, 306, 24, 'none', 'stroke="#3b3d44" stroke-width="7"');
  d.line('M222 306 L244 342 M232 344 L258 340', '#3b3d44', 6);
  d.line('M184 172 L180 154', '#3b3d44', 7);
  d.path('M144 148 C150 138 200 138 218 146 C210 158 170 162 152 160 Z', accent);
  if (variant === 0) {
    d.line('M326 160 L320 132 L352 124', '#3b3d44', 7);
    d.line('M346 126 L368 120', accent, 11);
  } else if (variant === 1) {
    d.line('M326 160 L320 124 C300 112 280 116 268 128', '#8b8f97', 7);
    d.line('M282 120 L266 130', accent, 11);
    d.path('M352 150 L424 146 L414 200 L362 202 Z', d.vertical('#c9995c', '#9a6b38'));
    for (const y of [160, 172, 184]) d.line(`M354 ${y} L420 ${y - 3}`, '#7a5228', 2);
    d.path('M30 262 C52 208 92 196 128 204', 'none', `stroke="${main}" stroke-width="9" stroke-linecap="round"`);
  } else {
    d.line('M326 160 L318 138 L350 136 C384 136 384 186 352 186', '#3b3d44', 7);
    d.line('M372 148 C378 166 370 184 352 186', accent, 10);
  }
}

export const bicycle: ProductKind = {
  name: 'bicycle',
  category: 'sports',
  labels: ['bicycle', 'sports', 'outdoor'],
  variants: ['trail bike', 'city bike', 'racing bike'],
  price: [349, 1899],
  draw: drawBike,
};

function leaf(d: Drawing, x: number, y: number, angle: number, length: number, width: number, color: string): void {
  d.group(`translate(${at(x)} ${at(y)}) rotate(${at(angle)})`, () => {
    d.path(
      `M0 0 C${at(-width)} ${at(-length * 0.3)} ${at(-width)} ${at(-length * 0.75)} 0 ${at(-length)} C${at(width)} ${at(-length * 0.75)} ${at(width)} ${at(-length * 0.3)} 0 0 Z`,
      d.horizontal(lighter(color, 0.2), color, darker(color, 0.22)),
    );
    d.line(`M0 0 L0 ${at(-length * 0.92)}`, lighter(color, 0.35), 2, 'opacity="0.7"');
  });
}

function drawPlant(d: Drawing, { main, accent, variant, random }: Appearance): void {
  const green = random.pick(['#2f7d43', '#3f8f4a', '#23693e', '#5a9a45']);
  if (variant === 0) {
    for (let i = 0; i < 9; i++) {
      const side = i % 2 === 0 ? -1 : 1;
      const lean = side * (8 + i * 6);
      const height = 150 + random.between(-10, 40) - i * 6;
      const x = 240 + lean * 2.2;
      const y = 292 - height * 0.62;
      d.line(`M240 296 Q${at(240 + lean * 0.4)} ${at(y + 60)} ${at(x)} ${at(y)}`, darker(green, 0.2), 5);
      leaf(d, x, y + 18, lean * 1.5, 92 + random.between(-10, 16), 40, mix(green, '#8cc05a', random.between(0, 0.4)));
    }
  } else if (variant === 1) {
    for (let i = 0; i < 9; i++) {
      const angle = (i - 4) * 8 + random.between(-3, 3);
      const length = 238 - Math.abs(i - 4) * 18 + random.between(-14, 14);
      const color = mix(green, '#1c4a33', random.between(0, 0.5));
      d.group(`translate(${240 + (i - 4) * 12} 306) rotate(${at(angle)})`, () => {
        d.path(
          `M-13 0 C-20 ${at(-length * 0.5)} -12 ${at(-length * 0.85)} 0 ${at(-length)} C12 ${at(-length * 0.85)} 20 ${at(-length * 0.5)} 13 0 Z`,
          d.horizontal('#cfd98a', color, lighter(color, 0.2), color, '#cfd98a'),
        );
      });
    }
  } else {
    const cactus = d.horizontal(darker(green, 0.25), lighter(green, 0.22), green, darker(green, 0.35));
    d.path(
      'M140 214 C132 170 168 160 172 196 L174 226 C178 240 196 240 206 240 L206 268 C170 270 144 262 140 214 Z',
      cactus,
    );
    d.path(
      'M344 184 C350 140 314 134 310 168 L308 206 C306 220 292 222 276 222 L276 250 C316 252 340 236 344 184 Z',
      cactus,
    );
    d.rect(194, 104, 92, 214, cactus, 46);
    for (const x of [216, 240, 264]) d.line(`M${x} 124 L${x} 300`, darker(green, 0.32), 2.5, 'opacity="0.6"');
    for (let i = 0; i < 18; i++)
      d.circle(Math.round(random.between(200, 280)), Math.round(random.between(130, 296)), 2, '#f3f0d8');
    d.circle(240, 104, 17, d.radial(0.5, 0.5, 0.5, '#fff1a8', '#f06a92', '#d9467a'));
  }
  const pot = 'M148 300 L332 300 L312 388 C310 398 304 402 294 402 L186 402 C176 402 170 398 168 388 Z';
  d.path(pot, round(d, main));
  d.inside(pot, () => {
    if (random.chance(0.5)) d.rect(130, 344, 220, 22, accent, 0, 'opacity="0.85"');
  });
  d.rect(138, 284, 204, 30, round(d, lighter(main, 0.08)), 8);
}

export const plant: ProductKind = {
  name: 'plant',
  category: 'garden',
  labels: ['plant', 'garden', 'home'],
  variants: ['leafy plant', 'snake plant', 'cactus'],
  price: [9, 59],
  draw: drawPlant,
};

function drawHeadphones(d: Drawing, { main, accent, variant }: Appearance): void {
  d.line('M104 280 C92 58 388 58 376 280', darker(main, 0.4), 34);
  d.line('M104 278 C92 56 388 56 376 278', main, 26);
  d.line('M112 210 C126 92 354 92 368 210', lighter(main, 0.3), 5, 'opacity="0.6"');
  d.line('M150 134 C186 88 294 88 330 134', mix(accent, '#ffffff', 0.15), 20);
  for (const side of [-1, 1]) {
    const x = 240 + side * 134;
    d.line(`M${x} 236 L${x} 286`, '#aeb2ba', 12);
    if (variant === 0) {
      d.rect(x - (side < 0 ? 14 : 40), 254, 54, 134, round(d, darker(accent, 0.1)), 27);
      d.rect(x - (side < 0 ? 44 : 6), 246, 50, 150, d.vertical(lighter(main, 0.25), main, darker(main, 0.3)), 25);
    } else {
      d.ellipse(x - side * 14, 316, 44, 66, darker(accent, 0.25));
      d.ellipse(x + side * 8, 316, 42, 68, d.radial(0.38, 0.3, 0.8, lighter(main, 0.4), main, darker(main, 0.35)));
      d.ellipse(
        x + side * 12,
        316,
        20,
        34,
        d.radial(0.4, 0.3, 0.8, lighter(accent, 0.4), accent, darker(accent, 0.25)),
      );
    }
  }
}

export const headphones: ProductKind = {
  name: 'headphones',
  category: 'electronics',
  labels: ['headphones', 'electronics', 'music'],
  variants: ['slim headphones', 'studio headphones'],
  price: [39, 329],
  draw: drawHeadphones,
};

function drawCamera(d: Drawing, { main, accent, variant }: Appearance): void {
  const metal = '#c6c9cf';
  d.rect(92, 132, 60, 26, d.vertical(lighter(metal, 0.4), darker(metal, 0.2)), 8);
  d.circle(350, 146, 24, d.vertical(lighter(metal, 0.5), darker(metal, 0.3)));
  d.path('M168 158 L194 112 L286 112 L312 158 Z', d.vertical(lighter(metal, 0.4), metal, darker(metal, 0.2)));
  d.rect(214, 122, 52, 26, '#1d2026', 5);
  d.rect(56, 152, 368, 242, d.vertical(lighter(metal, 0.5), metal, darker(metal, 0.25)), 26);
  d.rect(
    56,
    variant === 0 ? 196 : 182,
    368,
    variant === 0 ? 150 : 170,
    d.vertical(lighter(main, 0.18), main, darker(main, 0.3)),
  );
  for (let i = 0; i < 40; i++) d.line(`M${66 + i * 9} 204 L${60 + i * 9} 338`, darker(main, 0.4), 1, 'opacity="0.25"');
  d.circle(240, 272, 102, d.diagonal(lighter(metal, 0.7), metal, darker(metal, 0.4)));
  d.circle(240, 272, 88, '#1f2127');
  d.circle(240, 272, 80, 'none', `stroke="${accent}" stroke-width="4"`);
  d.circle(240, 272, 64, d.radial(0.4, 0.35, 0.75, '#7fa3d8', '#31486f', '#101624'));
  d.circle(240, 272, 34, d.radial(0.45, 0.4, 0.7, '#9a7fc4', '#2a2447', '#0b0c14'));
  d.ellipse(214, 246, 18, 11, '#ffffff', 'opacity="0.55" transform="rotate(-35 214 246)"');
  d.circle(262, 298, 5, '#ffffff', 'opacity="0.4"');
  d.rect(352, 166, 50, 18, accent, 5);
  d.circle(84, 172, 6, '#e2463c');
}

export const camera: ProductKind = {
  name: 'camera',
  category: 'electronics',
  labels: ['camera', 'electronics', 'travel'],
  variants: ['classic camera', 'compact camera'],
  price: [149, 899],
  draw: drawCamera,
};

function drawGuitar(d: Drawing, { main, accent, variant }: Appearance): void {
  d.group('translate(240 240) rotate(28) scale(0.84) translate(-240 -204)', () => {
    const wood = '#6a4127';
    d.path('M218 34 L262 34 L258 -40 C256 -52 224 -52 222 -40 Z', d.horizontal(darker(wood, 0.1), darker(wood, 0.4)));
    for (const y of [-30, -10, 10]) for (const x of [212, 268]) d.circle(x, y, 6.5, '#cfd2d8');
    if (variant === 0) {
      const body =
        'M240 224 C300 214 330 244 320 288 C312 316 340 330 346 372 C350 430 300 456 240 456 C180 456 130 430 134 372 C140 330 168 316 160 288 C150 244 180 214 240 224 Z';
      d.path(body, d.radial(0.45, 0.5, 0.65, lighter(main, 0.35), main, darker(main, 0.5)));
      d.line(body, darker(main, 0.55), 5);
      d.circle(240, 322, 39, darker(accent, 0.2));
      d.circle(240, 322, 32, '#1c1310');
      d.rect(198, 398, 84, 15, darker(wood, 0.4), 4);
    } else {
      const body =
        'M212 244 C190 236 176 210 158 216 C136 226 150 268 158 298 C162 322 132 346 132 386 C132 436 186 456 240 456 C298 456 350 434 348 384 C346 346 318 326 322 298 C330 270 346 232 326 222 C306 214 292 250 268 246 Z';
      d.path(body, d.radial(0.45, 0.45, 0.7, lighter(main, 0.4), main, darker(main, 0.4)));
      d.path('M214 262 C180 290 196 330 176 370 C190 410 300 410 310 372 C296 330 300 290 268 262 Z', accent);
      for (const y of [304, 342]) d.rect(206, y, 68, 17, '#23242a', 8);
      d.rect(200, 388, 80, 18, '#c3c6cd', 5);
      d.circle(318, 400, 8, '#e9e7e0').circle(300, 424, 8, '#e9e7e0');
    }
    d.rect(224, 30, 32, variant === 0 ? 258 : 240, d.horizontal('#3c2618', '#5d3c25', '#33200f'));
    for (let y = 44; y < 260; y += 18) d.line(`M224 ${y} L256 ${y}`, '#c9ccd2', 1.6);
    for (let i = 0; i < 6; i++) d.line(`M${at(228 + i * 4.8)} 30 L${at(228 + i * 4.8)} 400`, '#e8e6df', 1);
  });
}

export const guitar: ProductKind = {
  name: 'guitar',
  category: 'music',
  labels: ['guitar', 'music'],
  variants: ['acoustic guitar', 'electric guitar'],
  price: [119, 799],
  floating: true,
  draw: drawGuitar,
};
