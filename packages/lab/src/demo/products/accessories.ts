import { type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Appearance, ProductKind } from './kind.ts';

const BRASS = '#d9b25a';

function handbag(d: Drawing, { main, accent, random }: Appearance): void {
  d.line('M162 206 C164 86 316 86 318 206', darker(main, 0.4), 16);
  d.line('M162 204 C164 84 316 84 318 204', darker(main, 0.12), 10);
  const body =
    'M112 196 L368 196 C382 196 388 204 390 216 L412 376 C414 392 404 400 390 400 L90 400 C76 400 66 392 68 376 L90 216 C92 204 98 196 112 196 Z';
  d.path(body, d.horizontal(darker(main, 0.22), lighter(main, 0.14), main, darker(main, 0.24)));
  d.path(
    'M100 196 L380 196 C392 240 380 300 330 306 L150 306 C100 300 88 240 100 196 Z',
    d.vertical(lighter(main, 0.28), main, darker(main, 0.14)),
  );
  d.line(
    'M112 204 C106 246 116 290 154 294 L326 294 C364 290 374 246 368 204',
    lighter(main, 0.45),
    2.5,
    'stroke-dasharray="7 5" opacity="0.8"',
  );
  d.rect(214, 282, 52, 46, d.diagonal(lighter(BRASS, 0.5), BRASS, darker(BRASS, 0.35)), 8);
  d.circle(240, 304, 8, darker(BRASS, 0.5));
  for (const x of [162, 318]) d.circle(x, 206, 10, d.diagonal(lighter(BRASS, 0.5), darker(BRASS, 0.2)));
  if (random.chance(0.5)) {
    d.line('M318 212 L346 262', darker(accent, 0.2), 4);
    d.path('M334 256 L362 262 L356 320 L326 314 Z', accent);
  }
}

function tote(d: Drawing, { main, accent, random }: Appearance): void {
  for (const offset of [14, 0]) {
    d.line(
      `M${160 + offset} 190 C${160 + offset} 60 ${306 + offset} 60 ${306 + offset} 190`,
      offset ? darker(accent, 0.35) : accent,
      13,
    );
  }
  const body = 'M92 180 L388 180 L404 390 C404 398 398 402 390 402 L90 402 C82 402 76 398 76 390 Z';
  d.path(body, main);
  d.inside(body, () => {
    const style = random.integer(0, 2);
    if (style === 0) for (let x = 70; x < 420; x += 56) d.rect(x, 170, 24, 240, mix(main, accent, 0.75));
    if (style === 1) d.circle(240, 296, 62, accent);
    if (style === 2) d.rect(60, 320, 360, 90, accent);
    d.rect(60, 170, 360, 240, d.horizontal(['#120f24', 0.18], ['#ffffff', 0.12], ['#ffffff', 0], ['#120f24', 0.22]));
    d.path('M170 180 C176 260 168 330 160 402 L176 402 C188 330 190 260 170 180 Z', '#120f24', 'opacity="0.08"');
  });
  d.rect(92, 178, 296, 14, darker(main, 0.12));
}

function backpack(d: Drawing, { main, accent }: Appearance): void {
  d.line('M214 92 C214 52 266 52 266 92', darker(main, 0.4), 13);
  for (const side of [-1, 1])
    d.rect(side < 0 ? 92 : 346, 252, 44, 116, d.horizontal(darker(main, 0.3), darker(main, 0.1)), 18);
  const body =
    'M116 180 C116 112 164 82 240 82 C316 82 364 112 364 180 L368 372 C368 392 356 402 338 402 L142 402 C124 402 112 392 112 372 Z';
  d.path(body, d.horizontal(darker(main, 0.24), lighter(main, 0.16), main, darker(main, 0.26)));
  d.line('M132 196 C132 128 172 102 240 102 C308 102 348 128 348 196', darker(main, 0.45), 5);
  d.rect(146, 246, 188, 132, d.vertical(lighter(accent, 0.18), accent, darker(accent, 0.25)), 24);
  d.line('M156 274 L324 274', darker(accent, 0.45), 5);
  d.rect(232, 270, 16, 34, d.vertical(lighter(BRASS, 0.3), darker(BRASS, 0.3)), 5);
  d.rect(206, 176, 68, 40, darker(main, 0.3), 8);
  d.rect(212, 182, 56, 28, mix(accent, '#ffffff', 0.55), 5);
  d.ellipse(190, 150, 42, 22, '#ffffff', 'opacity="0.14"');
}

export const bag: ProductKind = {
  name: 'bag',
  category: 'accessories',
  labels: ['bag', 'accessories', 'fashion'],
  variants: ['handbag', 'tote bag', 'backpack'],
  price: [19, 249],
  draw(d, look) {
    [handbag, tote, backpack][look.variant]?.(d, look);
  },
};

function drawWatch(d: Drawing, { main, accent, variant, random }: Appearance): void {
  const strap = d.horizontal(darker(main, 0.3), lighter(main, 0.18), main, darker(main, 0.3));
  d.path('M196 130 L202 22 C203 14 208 10 216 10 L264 10 C272 10 277 14 278 22 L284 130 Z', strap);
  d.path('M196 340 L204 462 C205 468 210 472 216 472 L264 472 C270 472 275 468 276 462 L284 340 Z', strap);
  for (const y of [384, 408, 432]) d.ellipse(240, y, 5, 4, darker(main, 0.55));
  d.line(
    'M206 40 L204 118 M274 40 L276 118 M204 352 L208 448 M276 352 L272 448',
    lighter(main, 0.4),
    2,
    'stroke-dasharray="5 5" opacity="0.7"',
  );
  const metal = random.chance(0.5) ? '#c9ccd3' : BRASS;
  const steel = d.diagonal(lighter(metal, 0.6), metal, darker(metal, 0.35), lighter(metal, 0.2));
  const dial = d.radial(0.4, 0.35, 0.8, lighter(accent, 0.28), accent, darker(accent, 0.28));
  const ink =
    Number.parseInt(accent.slice(1, 3), 16) + Number.parseInt(accent.slice(3, 5), 16) > 300 ? '#26262e' : '#f4f2ec';
  d.rect(340, 226, 26, 28, steel, 5);
  if (variant === 0) {
    d.circle(240, 240, 114, steel);
    d.circle(240, 240, 98, darker(metal, 0.3));
    d.circle(240, 240, 95, dial);
  } else {
    d.rect(136, 132, 208, 216, steel, 42);
    d.rect(150, 146, 180, 188, dial, 32);
  }
  for (let i = 0; i < 12; i++)
    d.group(`rotate(${i * 30} 240 240)`, () => d.rect(237.5, 156, 5, i % 3 === 0 ? 18 : 10, ink, 2));
  d.circle(240, 286, 20, 'none', `stroke="${ink}" stroke-width="2" opacity="0.6"`);
  d.group('rotate(-58 240 240)', () => d.rect(236.5, 188, 7, 58, ink, 3));
  d.group(`rotate(${random.integer(20, 70)} 240 240)`, () => d.rect(237.5, 166, 5, 80, ink, 2));
  d.group(`rotate(${random.integer(100, 250)} 240 240)`, () => d.rect(239, 160, 2, 100, '#d8412f'));
  d.circle(240, 240, 6, ink);
  d.path(
    'M176 180 C200 154 250 146 284 158 C240 170 200 200 176 240 C164 220 166 196 176 180 Z',
    '#ffffff',
    'opacity="0.16"',
  );
}

export const watch: ProductKind = {
  name: 'watch',
  category: 'accessories',
  labels: ['watch', 'accessories', 'fashion'],
  variants: ['round watch', 'square watch'],
  price: [79, 449],
  floating: true,
  draw: drawWatch,
};

function drawGlasses(d: Drawing, { main, accent, variant }: Appearance): void {
  const lens = d.vertical([darker(accent, 0.55), 0.95], [accent, 0.85], [lighter(accent, 0.35), 0.75]);
  for (const side of [-1, 1]) {
    const x = 240 + side * 104;
    d.line(`M${240 + side * 196} 226 L${240 + side * 220} 190`, darker(main, 0.3), 14);
    const shape =
      variant === 0
        ? `M${x - 86} 252 A86 82 0 1 1 ${x + 86} 252 A86 82 0 1 1 ${x - 86} 252 Z`
        : variant === 1
          ? `M${x - 90} 190 L${x + 90} 190 C${x + 98} 190 ${x + 100} 200 ${x + 96} 212 L${x + 78} 296 C${x + 74} 312 ${x + 62} 318 ${x + 48} 318 L${x - 48} 318 C${x - 62} 318 ${x - 74} 312 ${x - 78} 296 L${x - 96} 212 C${x - 100} 200 ${x - 98} 190 ${x - 90} 190 Z`
          : `M${x - 88} 196 C${x - 50} 178 ${x + 50} 178 ${x + 88} 196 C${x + 96} 268 ${x + 56} 330 ${x + side * 10} 334 C${x - 50} 332 ${x - 92} 272 ${x - 88} 196 Z`;
    d.path(shape, lens);
    d.inside(shape, () => {
      d.path(`M${x - 60} 170 L${x - 10} 170 L${x - 70} 340 L${x - 120} 340 Z`, '#ffffff', 'opacity="0.2"');
      d.path(`M${x + 6} 170 L${x + 22} 170 L${x - 38} 340 L${x - 54} 340 Z`, '#ffffff', 'opacity="0.14"');
    });
    d.line(shape, darker(main, 0.25), variant === 2 ? 9 : 17);
    d.line(shape, main, variant === 2 ? 5 : 12);
  }
  d.line('M214 226 C224 208 256 208 266 226', darker(main, 0.25), 15);
  d.line('M214 225 C224 207 256 207 266 225', main, 10);
  if (variant === 2) d.line('M196 192 L284 192', main, 7);
}

export const sunglasses: ProductKind = {
  name: 'sunglasses',
  category: 'accessories',
  labels: ['sunglasses', 'accessories', 'summer'],
  variants: ['round sunglasses', 'square sunglasses', 'aviator sunglasses'],
  price: [19, 149],
  floating: true,
  draw: drawGlasses,
};

function drawUmbrella(d: Drawing, { main, accent, variant }: Appearance): void {
  d.line('M240 120 L240 372 C240 408 288 408 288 372', '#5a4634', 10);
  d.line('M240 350 L240 372 C240 408 288 408 288 372', darker(accent, 0.1), 14);
  const canopy =
    'M36 252 C36 132 130 62 240 62 C350 62 444 132 444 252 C424 232 396 232 376 252 C352 232 322 232 300 250 C282 232 258 230 240 250 C222 230 198 232 180 250 C158 232 128 232 104 252 C84 232 56 232 36 252 Z';
  d.path(canopy, main);
  d.inside(canopy, () => {
    const panels: [string, string][] = [
      ['M240 62 C160 80 110 160 104 252 L20 260 L20 60 Z', darker(main, 0.22)],
      [
        'M240 62 C200 90 182 170 180 252 L104 252 C110 160 160 80 240 62 Z',
        variant === 1 ? accent : lighter(main, 0.1),
      ],
      ['M240 62 C280 90 298 170 300 252 L376 252 C370 160 320 80 240 62 Z', variant === 1 ? accent : darker(main, 0.1)],
      ['M240 62 C320 80 370 160 376 252 L460 260 L460 60 Z', darker(main, 0.3)],
    ];
    for (const [panel, color] of panels) d.path(panel, color);
    d.ellipse(190, 120, 90, 36, '#ffffff', 'opacity="0.14" transform="rotate(-24 190 120)"');
    if (variant === 0)
      for (const [x, y] of [
        [120, 190],
        [170, 120],
        [240, 180],
        [300, 110],
        [360, 190],
        [240, 100],
        [200, 220],
        [290, 215],
      ])
        d.circle(x as number, y as number, 11, accent);
  });
  d.line('M240 62 L240 40', '#5a4634', 7);
}

export const umbrella: ProductKind = {
  name: 'umbrella',
  category: 'accessories',
  labels: ['umbrella', 'accessories', 'rain'],
  variants: ['dotted umbrella', 'panelled umbrella'],
  price: [12, 49],
  draw(d, look) {
    d.group('translate(0 -4)', () => drawUmbrella(d, look));
  },
};
