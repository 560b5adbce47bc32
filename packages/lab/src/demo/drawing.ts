/** Mixes two colours `#RRGGBB`; `share` is the weight of the second. */
export function mix(first: string, second: string, share: number): string {
  const a = Number.parseInt(first.slice(1), 16);
  const b = Number.parseInt(second.slice(1), 16);
  const channel = (shift: number): number => {
    const from = (a >> shift) & 255;
    return Math.round(from + (((b >> shift) & 255) - from) * share);
  };
  return `#${((1 << 24) | (channel(16) << 16) | (channel(8) << 8) | channel(0)).toString(16).slice(1)}`;
}

/** Mixes with a warm white. */
export const lighter = (color: string, share: number): string => mix(color, '#fffaf2', share);
/** Mixes with a cool black, like a shadow. */
export const darker = (color: string, share: number): string => mix(color, '#120f24', share);

/** A stop of a gradient: colour, and opacity if not full. */
export type Stop = string | readonly [color: string, opacity: number];

/** Collects SVG shapes and the gradients that they refer to. Coordinates are pixels. */
export class Drawing {
  readonly width: number;
  readonly height: number;
  #definitions: string[] = [];
  #shapes: string[] = [];

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }

  /** A vertical gradient over the box of a shape, with evenly spaced stops. */
  vertical(...stops: Stop[]): string {
    return this.#gradient('linearGradient', 'x1="0" y1="0" x2="0" y2="1"', stops);
  }

  horizontal(...stops: Stop[]): string {
    return this.#gradient('linearGradient', 'x1="0" y1="0" x2="1" y2="0"', stops);
  }

  diagonal(...stops: Stop[]): string {
    return this.#gradient('linearGradient', 'x1="0" y1="0" x2="1" y2="1"', stops);
  }

  /** A radial gradient from a centre, given as shares of the shape's box. */
  radial(cx: number, cy: number, radius: number, ...stops: Stop[]): string {
    return this.#gradient('radialGradient', `cx="${cx}" cy="${cy}" r="${radius}"`, stops);
  }

  path(d: string, fill: string, more = ''): this {
    return this.#add(`<path d="${d}" fill="${fill}" ${more}/>`);
  }

  line(d: string, color: string, width: number, more = ''): this {
    return this.#add(
      `<path d="${d}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" ${more}/>`,
    );
  }

  ellipse(cx: number, cy: number, rx: number, ry: number, fill: string, more = ''): this {
    return this.#add(`<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" fill="${fill}" ${more}/>`);
  }

  circle(cx: number, cy: number, r: number, fill: string, more = ''): this {
    return this.ellipse(cx, cy, r, r, fill, more);
  }

  rect(x: number, y: number, width: number, height: number, fill: string, radius = 0, more = ''): this {
    return this.#add(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}" ${more}/>`,
    );
  }

  /** Applies an SVG transform to everything that `draw` adds. */
  group(transform: string, draw: () => void): this {
    this.#add(`<g transform="${transform}">`);
    draw();
    return this.#add('</g>');
  }

  /** Clips everything that `draw` adds to a path. */
  inside(d: string, draw: () => void): this {
    const id = this.#define((name) => `<clipPath id="${name}"><path d="${d}"/></clipPath>`);
    this.#add(`<g clip-path="url(#${id})">`);
    draw();
    return this.#add('</g>');
  }

  /** A soft shadow on the ground. */
  shadow(cx: number, cy: number, rx: number, ry: number, strength = 0.4): this {
    return this.ellipse(
      cx,
      cy,
      rx,
      ry,
      this.radial(0.5, 0.5, 0.5, ['#0c0a18', strength], ['#0c0a18', strength * 0.45], ['#0c0a18', 0]),
    );
  }

  /** A soft glow. */
  glow(cx: number, cy: number, radius: number, color: string, strength = 0.8): this {
    return this.circle(
      cx,
      cy,
      radius,
      this.radial(0.5, 0.5, 0.5, [color, strength], [color, strength * 0.3], [color, 0]),
    );
  }

  toString(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}"><defs>${this.#definitions.join('')}</defs>${this.#shapes.join('')}</svg>`;
  }

  #add(shape: string): this {
    this.#shapes.push(shape);
    return this;
  }

  #define(markup: (id: string) => string): string {
    const id = `d${this.#definitions.length}`;
    this.#definitions.push(markup(id));
    return id;
  }

  #gradient(element: string, geometry: string, stops: readonly Stop[]): string {
    const last = Math.max(1, stops.length - 1);
    const children = stops.map((stop, i) => {
      const [color, opacity] = typeof stop === 'string' ? [stop, 1] : stop;
      return `<stop offset="${(i / last).toFixed(3)}" stop-color="${color}" stop-opacity="${opacity}"/>`;
    });
    return `url(#${this.#define((id) => `<${element} id="${id}" ${geometry}>${children.join('')}</${element}>`)})`;
  }
}

/** A coordinate with one decimal: short, and the same on every machine. */
export const at = (value: number): string => (Math.round(value * 10) / 10).toString();
