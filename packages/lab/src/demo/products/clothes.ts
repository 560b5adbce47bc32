import { type Drawing, darker, lighter, mix } from '../drawing.ts';
import type { Appearance, ProductKind } from './kind.ts';

function folds(d: Drawing, color: string): void {
  const dark = darker(color, 0.4);
  d.path('M168 200 C178 270 170 340 156 410 L176 410 C188 340 190 270 168 200 Z', dark, 'opacity="0.16"');
  d.path('M306 210 C300 280 308 340 322 410 L300 410 C290 340 288 280 306 210 Z', dark, 'opacity="0.18"');
  d.path('M150 180 C190 214 210 216 232 210 C204 236 170 226 150 180 Z', dark, 'opacity="0.18"');
  d.path('M332 180 C300 212 276 218 252 212 C280 238 316 226 332 180 Z', dark, 'opacity="0.18"');
  d.path('M222 230 C230 290 226 350 220 410 L246 410 C254 350 250 290 222 230 Z', '#ffffff', 'opacity="0.08"');
}

function print(d: Drawing, { accent, random }: Appearance): void {
  const style = random.integer(0, 5);
  if (style === 0) {
    for (let y = 150; y < 420; y += 44) d.rect(20, y, 440, 20, accent);
  } else if (style === 1) {
    d.circle(240, 236, 52, accent);
    d.path('M196 252 L226 214 L246 238 L260 222 L286 254 C274 290 206 290 196 252 Z', darker(accent, 0.45));
  } else if (style === 2) {
    d.rect(20, 200, 440, 54, accent);
    d.rect(20, 262, 440, 10, lighter(accent, 0.4));
  } else if (style === 3) {
    d.path('M240 176 L256 214 L298 218 L266 246 L276 288 L240 266 L204 288 L214 246 L182 218 L224 214 Z', accent);
  } else if (style === 4) {
    d.rect(266, 196, 46, 52, accent, 6);
    d.line('M266 206 L312 206', darker(accent, 0.4), 3);
  }
}

function drawShirt(d: Drawing, look: Appearance): void {
  const { main, accent, variant } = look;
  const long = variant === 1;
  const sleeves = long
    ? 'M168 76 C128 86 108 104 98 140 L50 372 C48 384 54 390 64 392 L96 398 C104 398 108 394 110 386 L150 220 Z M312 76 C352 86 372 104 382 140 L430 372 C432 384 426 390 416 392 L384 398 C376 398 372 394 370 386 L330 220 Z'
    : 'M168 76 C128 86 108 100 92 128 L40 212 C36 220 38 226 46 230 L100 258 C108 262 114 258 118 250 L150 196 Z M312 76 C352 86 372 100 388 128 L440 212 C444 220 442 226 434 230 L380 258 C372 262 366 258 362 250 L330 196 Z';
  d.path('M190 74 C210 66 270 66 290 74 L284 104 L196 104 Z', darker(main, 0.5));
  d.path(sleeves, d.vertical(lighter(main, 0.1), darker(main, 0.2)));
  d.inside(sleeves, () => {
    if (variant === 2) d.path('M20 190 L120 250 L110 270 L10 214 Z M460 190 L360 250 L370 270 L470 214 Z', accent);
  });
  const body =
    'M168 76 L192 72 C204 106 276 106 288 72 L312 76 C338 84 350 130 350 200 L356 400 C356 408 350 412 342 412 L138 412 C130 412 124 408 124 400 L130 200 C130 130 142 84 168 76 Z';
  d.path(body, main);
  d.inside(body, () => {
    d.rect(100, 60, 280, 360, d.vertical(['#ffffff', 0.14], ['#ffffff', 0], ['#120f24', 0.14]));
    if (variant !== 2) print(d, look);
    folds(d, main);
    d.rect(
      100,
      60,
      280,
      360,
      d.horizontal(['#120f24', 0.2], ['#120f24', 0], ['#ffffff', 0.08], ['#120f24', 0], ['#120f24', 0.22]),
    );
    d.line('M124 400 L356 400', darker(main, 0.3), 2, 'stroke-dasharray="5 4"');
  });
  if (variant === 2) {
    d.path(
      'M190 70 C206 60 274 60 290 70 L306 108 C286 118 262 108 240 96 C218 108 194 118 174 108 Z',
      d.vertical(lighter(accent, 0.15), darker(accent, 0.1)),
    );
    d.path('M206 70 C222 64 258 64 274 70 C268 88 254 96 240 98 C226 96 212 88 206 70 Z', darker(main, 0.55));
    d.path('M232 96 L248 96 L248 190 L232 190 Z', darker(main, 0.16));
    for (const y of [116, 146, 176]) d.circle(240, y, 4.5, '#f8f6f0');
  } else {
    d.line('M190 74 C204 110 276 110 290 74', darker(mix(main, accent, 0.3), 0.12), 9);
  }
}

export const shirt: ProductKind = {
  name: 'shirt',
  category: 'clothing',
  labels: ['shirt', 'clothing', 'fashion'],
  variants: ['t-shirt', 'long-sleeved shirt', 'polo shirt'],
  price: [15, 69],
  floating: true,
  draw: drawShirt,
};

function drawCap(d: Drawing, { main, accent, variant }: Appearance): void {
  if (variant === 0) {
    const dome = 'M64 366 C50 226 128 150 224 150 C322 150 374 238 376 348 C290 358 160 364 64 366 Z';
    d.path(dome, d.radial(0.38, 0.25, 0.85, lighter(main, 0.34), main, darker(main, 0.28)));
    d.inside(dome, () => {
      d.path('M224 150 C150 200 130 270 136 370', 'none', `stroke="${darker(main, 0.3)}" stroke-width="3"`);
      d.path('M224 150 C300 190 330 270 328 370', 'none', `stroke="${darker(main, 0.3)}" stroke-width="3"`);
      d.circle(262, 250, 42, accent);
      d.path(
        'M262 220 L270 240 L292 242 L275 256 L281 278 L262 266 L243 278 L249 256 L232 242 L254 240 Z',
        lighter(accent, 0.75),
      );
    });
    d.path('M62 352 C160 350 290 344 377 334 L377 352 C290 362 160 368 64 370 Z', darker(main, 0.2));
    d.path(
      'M226 362 C280 330 376 322 412 336 C446 350 468 380 456 392 C448 400 432 392 420 388 C362 368 290 368 226 362 Z',
      d.vertical(lighter(main, 0.2), main, darker(main, 0.34)),
    );
    d.line('M240 358 C300 338 380 336 410 348 C432 358 446 370 452 380', lighter(main, 0.4), 2, 'opacity="0.6"');
    d.circle(224, 150, 11, darker(accent, 0.1));
  } else {
    const brim =
      'M36 352 C60 322 140 318 240 318 C340 318 420 322 444 352 C430 386 340 392 240 392 C140 392 50 386 36 352 Z';
    d.path(brim, d.vertical(lighter(main, 0.2), darker(main, 0.22)));
    const crown =
      'M126 340 C120 240 132 166 170 152 C200 142 220 162 240 162 C260 162 280 142 310 152 C348 166 360 240 354 340 C300 360 180 360 126 340 Z';
    d.path(crown, d.horizontal(darker(main, 0.16), lighter(main, 0.26), main, darker(main, 0.28)));
    d.path(
      'M124 300 C180 322 300 322 356 300 L355 342 C300 362 180 362 125 342 Z',
      d.horizontal(darker(accent, 0.2), lighter(accent, 0.12), darker(accent, 0.25)),
    );
    d.path(
      'M196 170 C216 200 222 240 220 290',
      'none',
      `stroke="${darker(main, 0.35)}" stroke-width="5" opacity="0.4"`,
    );
  }
}

export const hat: ProductKind = {
  name: 'hat',
  category: 'clothing',
  labels: ['hat', 'clothing', 'fashion'],
  variants: ['baseball cap', 'fedora'],
  price: [14, 59],
  draw(d, look) {
    d.group('translate(0 14)', () => drawCap(d, look));
  },
};
