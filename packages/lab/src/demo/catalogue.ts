import { type Background, drawBackground, TINTS } from './backgrounds.ts';
import { CITIES, STORES } from './cities.ts';
import type { DemoDocument } from './draw-demo.ts';
import { Drawing } from './drawing.ts';
import { EDITS } from './edits.ts';
import { PRODUCTS } from './products/index.ts';
import type { ProductKind } from './products/kind.ts';
import { type Random, randomOf } from './random.ts';
import { SCENES } from './scenes/index.ts';
import type { SceneKind } from './scenes/kind.ts';
import { lightOf, TIMES, type Time } from './scenes/light.ts';

type Fields = Omit<DemoDocument, 'file' | 'id'>;

/** A demo picture without its id. */
interface Original {
  readonly fields: Fields;
  readonly draw: () => Drawing;
}

/** The pictures to draw: originals from code, copies from the files of originals. */
export interface Plan {
  readonly originals: readonly { readonly id: string; readonly fields: Fields; readonly draw: () => Drawing }[];
  readonly copies: readonly {
    readonly id: string;
    readonly fields: Fields;
    readonly of: string;
    readonly edit: string;
  }[];
}

const SIDE = 480;
const COPIED_ORIGINALS = 12;
const EDITS_OF_EACH = 3;

/** All pictures of the demo, shuffled and numbered; the same on every call. */
export function planDemo(): Plan {
  const random = randomOf('demo');
  const drawn = shuffled([...allProducts(), ...allBanners(), ...allScenes()], random);
  const originals = drawn.map((original, i) => ({ id: idOf(i + 1), ...original }));
  const copies = originals
    .filter((_, i) => i % Math.floor(originals.length / COPIED_ORIGINALS) === 5)
    .slice(0, COPIED_ORIGINALS)
    .flatMap((original, i) =>
      Array.from({ length: EDITS_OF_EACH }, (_, k) => {
        const [edit] = EDITS[(i * EDITS_OF_EACH + k) % EDITS.length] as (typeof EDITS)[number];
        return { of: original.id, edit, fields: copyFields(original.id, original.fields, edit) };
      }),
    )
    .map((copy, i) => ({ id: idOf(originals.length + i + 1), ...copy }));
  return { originals, copies };
}

const idOf = (number: number): string => `demo-${String(number).padStart(3, '0')}`;

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const result = [...list];
  for (let i = result.length - 1; i > 0; i--) {
    const other = random.integer(0, i);
    [result[i], result[other]] = [result[other] as T, result[i] as T];
  }
  return result;
}

function copyFields(id: string, original: Fields, edit: string): Fields {
  return {
    ...original,
    title: `${original.title} (${edit})`,
    kind: 'edited copy',
    labels: [...original.labels, 'copy'],
    copy_of: id,
    edit,
  };
}

// Products

const COLORS: Readonly<Record<string, { readonly hex: string; readonly goesWith: readonly string[] }>> = {
  red: { hex: '#d0312d', goesWith: ['white', 'black', 'navy', 'beige'] },
  navy: { hex: '#1f2f57', goesWith: ['white', 'red', 'orange', 'sky blue'] },
  blue: { hex: '#2d64bd', goesWith: ['white', 'yellow', 'navy', 'orange'] },
  'sky blue': { hex: '#86bbe2', goesWith: ['white', 'navy', 'pink', 'yellow'] },
  green: { hex: '#2f8a4c', goesWith: ['white', 'beige', 'yellow', 'brown'] },
  olive: { hex: '#72753a', goesWith: ['beige', 'orange', 'black', 'brown'] },
  mint: { hex: '#a3dcc3', goesWith: ['white', 'pink', 'teal', 'gray'] },
  teal: { hex: '#1f8a88', goesWith: ['white', 'orange', 'beige', 'yellow'] },
  yellow: { hex: '#f2bd27', goesWith: ['black', 'white', 'blue', 'gray'] },
  orange: { hex: '#e9782b', goesWith: ['white', 'navy', 'black', 'teal'] },
  pink: { hex: '#e88aa6', goesWith: ['white', 'purple', 'gray', 'red'] },
  purple: { hex: '#65449f', goesWith: ['white', 'pink', 'yellow', 'gray'] },
  brown: { hex: '#86573a', goesWith: ['beige', 'white', 'orange', 'teal'] },
  beige: { hex: '#d9c6a5', goesWith: ['brown', 'white', 'olive', 'navy'] },
  white: { hex: '#efece5', goesWith: ['black', 'red', 'blue', 'green'] },
  gray: { hex: '#8d929a', goesWith: ['white', 'yellow', 'black', 'pink'] },
  black: { hex: '#2a2a30', goesWith: ['white', 'red', 'yellow', 'gray'] },
};
const COLOR_WORDS = Object.keys(COLORS);
const hexOf = (color: string): string => COLORS[color]?.hex ?? '#808080';

const BRANDS = [
  'Aldro',
  'Bellamo',
  'Corvio',
  'Dunavi',
  'Elmoro',
  'Fintera',
  'Galdo',
  'Havlund',
  'Junavo',
  'Kestara',
  'Lumova',
  'Nordeva',
];
const MODELS = [
  'Alta',
  'Brio',
  'Cala',
  'Duna',
  'Echo',
  'Flint',
  'Gala',
  'Hilo',
  'Isla',
  'Juno',
  'Kite',
  'Lark',
  'Mira',
  'Nova',
  'Onda',
  'Pine',
  'Quill',
  'Rio',
  'Sola',
  'Tide',
  'Uma',
  'Vela',
  'Wren',
  'Zest',
];

/** An article: one shape of one brand. Its colour variants differ only in colour. */
interface Article {
  readonly kind: ProductKind;
  readonly variant: number;
  readonly seed: string;
  readonly brand: string;
  readonly model: string;
  readonly price: number;
  readonly released: string;
  readonly colors: readonly string[];
}

function allArticles(): Article[] {
  return PRODUCTS.flatMap((kind) =>
    kind.variants.map((name, variant) => {
      const seed = `${kind.name} ${name}`;
      const random = randomOf(seed);
      const [low, high] = kind.price;
      return {
        kind,
        variant,
        seed,
        brand: random.pick(BRANDS),
        model: random.pick(MODELS),
        // Never an integer, so that the field becomes a decimal number even if this is the first document.
        price: Math.floor(random.between(low, high)) + random.pick([0.5, 0.9, 0.95, 0.99]),
        released: dateFrom(random),
        colors: shuffled(COLOR_WORDS, random).slice(0, kind.variants.length === 2 ? 5 : 4),
      };
    }),
  );
}

function dateFrom(random: Random): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${random.integer(2019, 2025)}-${two(random.integer(1, 12))}-${two(random.integer(1, 28))}`;
}

function allProducts(): Original[] {
  return allArticles().flatMap((article) => article.colors.map((color) => product(article, color)));
}

function product(article: Article, color: string): Original {
  const random = randomOf(`${article.seed} ${color}`);
  const background = random.pick<Background>(
    article.kind.floating ? ['white', 'tint', 'studio'] : ['white', 'white', 'tint', 'studio', 'room'],
  );
  const tint = random.pick(TINTS);
  const scale = random.between(0.84, 1);
  const turned = !article.kind.floating && random.chance(0.35);
  return {
    fields: productFields(article, color, random),
    draw() {
      const drawing = new Drawing(SIDE, SIDE);
      drawBackground(
        drawing,
        background,
        tint,
        article.kind.floating ? null : 165 * scale,
        randomOf(`${article.seed} ground`),
      );
      const y = article.kind.floating ? 240 - 240 * scale : 402 - 402 * scale;
      const transform = turned
        ? `translate(${240 + 240 * scale} ${y}) scale(${-scale} ${scale})`
        : `translate(${240 - 240 * scale} ${y}) scale(${scale})`;
      drawing.group(transform, () => drawArticle(drawing, article, color));
      return drawing;
    },
  };
}

/** All colour variants use the article's seed, so that they differ only in colour. */
function drawArticle(drawing: Drawing, article: Article, color: string): void {
  const random = randomOf(article.seed);
  const accents = COLORS[color]?.goesWith ?? ['white'];
  const accent = accents[random.integer(0, accents.length - 1)] as string;
  article.kind.draw(drawing, {
    main: hexOf(color),
    accent: hexOf(accent),
    variant: article.variant,
    random: randomOf(`${article.seed} details`),
  });
}

function productFields(article: Article, color: string, random: Random): Fields {
  const { kind, brand, model, price, released } = article;
  const shape = kind.variants[article.variant] as string;
  const quantity = random.chance(0.2) ? 0 : random.integer(1, 140);
  const city = random.pick(STORES);
  return {
    labels: [...new Set([...kind.labels, shape, color])],
    title: `${brand} ${model} ${shape}, ${color}`,
    kind: 'product',
    category: kind.category,
    brand,
    price,
    in_stock: quantity > 0,
    quantity,
    released,
    city,
    location: CITIES[city] as string,
  };
}

/** Wide pictures with a product on one side and space for text next to it. */
function allBanners(): Original[] {
  const articles = allArticles().filter((_, i) => i % 3 === 1);
  return articles.map((article) => {
    const random = randomOf(`${article.seed} banner`);
    const color = random.pick(article.colors);
    const tint = random.pick(TINTS);
    const left = random.chance(0.5);
    const fields = productFields(article, color, random);
    return {
      fields: { ...fields, labels: [...fields.labels, 'banner'], title: `${fields.title}, banner` },
      draw() {
        const drawing = new Drawing(SIDE, 300);
        drawing.rect(0, 0, SIDE, 300, tint);
        drawing.group(`translate(${left ? -2 : SIDE - 262} 14) scale(0.55)`, () => {
          if (!article.kind.floating) drawing.shadow(240, 402, 165, 20, 0.35);
          drawArticle(drawing, article, color);
        });
        return drawing;
      },
    };
  });
}

// Scenes

const FORMATS: readonly (readonly [number, number])[] = [
  [480, 320],
  [480, 360],
  [480, 270],
  [340, 480],
];
const TIME_WORDS: Record<Time, string> = { dawn: 'at dawn', day: 'by day', sunset: 'at sunset', night: 'at night' };

function allScenes(): Original[] {
  return SCENES.flatMap((kind, i) =>
    TIMES.flatMap((time, k) => {
      // Every place at every time of day once, and a second view for two of the times.
      const views = (i + k) % 2 === 0 ? 2 : 1;
      return Array.from({ length: views }, (_, view) => scene(kind, time, view));
    }),
  );
}

function scene(kind: SceneKind, time: Time, view: number): Original {
  const seed = `${kind.name} ${time} ${view}`;
  const random = randomOf(seed);
  const city = random.pick(kind.cities);
  const [width, height] = view === 0 ? (FORMATS[0] as readonly [number, number]) : random.pick(FORMATS.slice(1));
  return {
    fields: {
      labels: [...kind.labels, time],
      title: `${kind.name[0]?.toUpperCase()}${kind.name.slice(1)} near ${city} ${TIME_WORDS[time]}`,
      kind: 'scene',
      category: kind.labels.includes('city') ? 'city' : 'landscape',
      time_of_day: time,
      released: dateFrom(random),
      city,
      location: CITIES[city] as string,
    },
    draw() {
      const drawing = new Drawing(width, height);
      const details = randomOf(`${seed} details`);
      kind.draw(drawing, lightOf(time, details), details);
      return drawing;
    },
  };
}
