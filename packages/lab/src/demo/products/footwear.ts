import { type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Appearance, ProductKind } from './kind.ts';

const RUBBER = '#f4f1ea';

function sole(d: Drawing, color: string, thickness: number): void {
  const top = 372 - thickness;
  const outline = `M52 ${top} C46 ${top + 22} 50 396 74 398 L404 398 C438 398 450 376 442 ${top - 6} C380 ${top + 10} 320 ${top + 6} 262 ${top - 2} L52 ${top} Z`;
  d.path(outline, d.vertical(lighter(color, 0.35), color, darker(color, 0.18)));
  d.line(`M56 ${top + 14} C150 ${top + 20} 330 ${top + 26} 440 ${top + 8}`, darker(color, 0.16), 2.5);
  d.path(
    'M60 386 C62 396 66 400 78 400 L402 400 C424 400 436 392 440 382 L430 388 L74 390 Z',
    darker(mix(color, '#6b5b4b', 0.4), 0.35),
  );
}

function laces(d: Drawing, from: [number, number], to: [number, number], count: number, color: string): void {
  for (let i = 0; i < count; i++) {
    const share = i / (count - 1);
    const x = from[0] + (to[0] - from[0]) * share;
    const y = from[1] + (to[1] - from[1]) * share;
    d.line(`M${x - 12} ${y + 20} C${x - 2} ${y + 8} ${x + 8} ${y + 2} ${x + 22} ${y - 6}`, darker(color, 0.3), 7);
    d.line(`M${x - 12} ${y + 18} C${x - 2} ${y + 6} ${x + 8} ${y} ${x + 22} ${y - 8}`, color, 5.5);
  }
}

function runner(d: Drawing, { main, accent, random }: Appearance): void {
  const upper =
    'M58 350 C44 306 52 262 62 226 C66 210 80 204 94 212 C112 226 146 230 172 214 L196 192 C206 184 220 186 228 198 C246 228 278 262 322 278 C372 294 420 300 440 334 C446 346 442 356 436 362 L66 366 Z';
  d.path(
    'M150 224 C164 196 182 172 206 168 C222 168 226 184 224 200 L214 232 Z',
    d.vertical(lighter(accent, 0.15), darker(accent, 0.25)),
  );
  d.path(
    'M62 226 C66 210 80 204 94 212 C112 226 146 230 172 214 L184 204 C160 244 100 252 64 240 Z',
    darker(main, 0.55),
  );
  d.path(upper, d.vertical(lighter(main, 0.18), main, darker(main, 0.25)));
  d.inside(upper, () => {
    d.path('M350 290 C330 310 330 344 344 372 L450 372 L450 300 Z', mix(main, accent, 0.12));
    d.path(
      'M350 288 C328 308 326 344 342 372',
      'none',
      `stroke="${darker(main, 0.3)}" stroke-width="2.5" stroke-dasharray="6 4"`,
    );
    d.path('M40 250 C76 262 104 300 108 370 L40 370 Z', d.vertical(mix(main, accent, 0.85), darker(accent, 0.2)));
    d.ellipse(380, 306, 60, 14, d.radial(0.5, 0.5, 0.5, ['#ffffff', 0.35], ['#ffffff', 0]));
    if (random.chance(0.5)) {
      for (const x of [0, 30, 60]) d.line(`M${158 + x} 360 L${208 + x} 258`, accent, 13);
    } else {
      d.path('M120 300 C170 348 230 344 300 282 C250 370 160 386 120 300 Z', accent);
    }
  });
  d.path(
    'M196 192 C206 184 220 186 228 198 C246 228 278 262 322 278 L306 296 C258 284 214 246 188 214 Z',
    mix(main, accent, 0.3),
  );
  laces(d, [216, 206], [292, 272], 5, lighter(accent, 0.7));
  d.line('M66 228 C70 214 82 208 94 216 C112 230 146 234 174 218', lighter(main, 0.3), 4);
  sole(d, RUBBER, 26);
  d.path(
    'M54 348 C52 368 54 380 66 384 L150 384 C134 368 110 354 54 348 Z',
    mix(accent, RUBBER, 0.15),
    'opacity="0.9"',
  );
}

function highTop(d: Drawing, { main, accent }: Appearance): void {
  const upper =
    'M70 352 C66 300 74 220 78 140 C79 124 90 118 104 120 L188 126 C200 127 206 134 208 146 C212 190 232 240 286 268 C340 286 404 288 428 322 C440 340 440 356 434 366 L72 366 Z';
  d.path(
    'M168 140 C176 112 196 96 216 100 C228 104 228 130 224 160 L206 200 Z',
    d.vertical(lighter(main, 0.2), darker(main, 0.3)),
  );
  d.path(upper, d.horizontal(darker(main, 0.18), main, lighter(main, 0.12), main));
  d.inside(upper, () => {
    d.path('M348 276 C336 300 336 340 348 372 L450 372 L450 280 Z', d.vertical('#ffffff', '#e9e4da'));
    d.rect(60, 116, 40, 260, darker(main, 0.22));
    d.line('M200 150 C206 210 240 262 300 286 L292 372', darker(main, 0.35), 2.5, 'stroke-dasharray="6 4"');
    d.line('M104 330 C180 330 240 330 300 330', lighter(accent, 0.1), 5);
  });
  d.circle(140, 206, 31, '#f7f4ee');
  d.circle(140, 206, 25, 'none', `stroke="${accent}" stroke-width="4"`);
  d.path('M140 188 L146 200 L159 201 L149 210 L152 223 L140 216 L128 223 L131 210 L121 201 L134 200 Z', accent);
  laces(d, [208, 146], [284, 270], 7, '#f6f3ec');
  d.path('M78 140 C79 124 90 118 104 120 L188 126 C198 127 204 132 207 140 L80 146 Z', lighter(main, 0.14));
  sole(d, RUBBER, 22);
  d.line('M56 362 C180 372 330 374 438 358', accent, 4);
}

function boot(d: Drawing, { main, accent }: Appearance): void {
  const upper =
    'M92 356 C84 300 92 190 96 104 C97 88 106 82 120 82 L214 86 C228 87 234 94 234 108 C234 170 244 226 276 252 C330 272 402 270 424 314 C434 336 434 352 428 364 L90 366 Z';
  d.path('M98 110 C96 90 106 80 122 82 L214 86 C230 88 236 96 234 112 C190 122 140 122 98 110 Z', darker(main, 0.6));
  d.path(upper, d.horizontal(darker(main, 0.3), main, lighter(main, 0.16), main, darker(main, 0.12)));
  d.inside(upper, () => {
    d.ellipse(380, 286, 70, 26, d.radial(0.5, 0.5, 0.5, ['#ffffff', 0.3], ['#ffffff', 0]));
    d.path(
      'M150 84 L196 84 C194 170 204 240 222 300 L166 300 C150 230 146 160 150 84 Z',
      d.horizontal(darker(accent, 0.45), darker(accent, 0.2)),
    );
    for (let y = 96; y < 300; y += 13) d.line(`M150 ${y} L206 ${y + 2}`, darker(accent, 0.5), 2);
    d.line('M96 250 C130 262 150 300 150 366', darker(main, 0.35), 3, 'stroke-dasharray="7 5"');
    d.line('M340 270 C324 300 324 340 336 370', darker(main, 0.35), 3, 'stroke-dasharray="7 5"');
  });
  d.path('M108 84 C104 56 120 46 126 60 L130 84 Z', 'none', `stroke="${accent}" stroke-width="7"`);
  const heel = darker(mix(main, '#2a2320', 0.75), 0.2);
  d.path(
    'M88 360 L432 360 C436 372 432 380 424 382 L180 384 L174 404 L90 404 Z',
    d.vertical(lighter(heel, 0.12), heel),
  );
}

export const shoe: ProductKind = {
  name: 'shoe',
  category: 'footwear',
  labels: ['shoe', 'fashion'],
  variants: ['runner', 'high-top sneaker', 'chelsea boot'],
  price: [59, 189],
  draw(d, look) {
    [runner, highTop, boot][look.variant]?.(d, look);
  },
};
