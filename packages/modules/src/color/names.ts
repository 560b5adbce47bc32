import { pointOfHex } from './oklab.ts';

/** A colour word and the colours that it describes. */
export interface ColorName {
  readonly name: string;
  /** Prototypes, `#RRGGBB`. A colour has the name of the prototype nearest to it in the space of oklab.ts. */
  readonly hexes: readonly string[];
}

/**
 * The vocabulary of `color_names`: the 11 basic colour terms of English (Berlin & Kay 1969) and common words between
 * them. A wide term has several prototypes, so that it covers dark, pale and dull variants too.
 */
export const COLOR_NAMES: readonly ColorName[] = [
  { name: 'black', hexes: ['#000000', '#141414', '#1A1A1E', '#1C1815', '#262728', '#26282C', '#282521'] },
  {
    name: 'gray',
    hexes: [
      '#808080',
      '#5E5E5E',
      '#3C3C3E',
      '#9C9C9C',
      '#6E6A66',
      '#6A7178',
      '#7C8894',
      '#4A525C',
      '#343434',
      '#34383E',
      '#4C4C4C',
      '#6E6E6E',
      '#8E8E8C',
      '#8C867E',
    ],
  },
  { name: 'silver', hexes: ['#C0C0C0', '#B2B4B8', '#CACCCE', '#A8A8A8', '#D8DADE'] },
  { name: 'white', hexes: ['#FFFFFF', '#F2F2F2', '#F0F2F6', '#E6E6E6'] },
  { name: 'red', hexes: ['#FF0000', '#D01818', '#E6323A', '#B01020', '#C8383A'] },
  { name: 'maroon', hexes: ['#800000', '#5E1018', '#7C1C30', '#4A0C10'] },
  { name: 'coral', hexes: ['#FF7F50', '#F0705C'] },
  { name: 'salmon', hexes: ['#FA8072', '#E8968A'] },
  { name: 'orange', hexes: ['#FF8C00', '#FFA500', '#F26A12', '#E0761E'] },
  { name: 'peach', hexes: ['#FFCBA4', '#F5B895'] },
  {
    name: 'brown',
    hexes: [
      '#7B3F00',
      '#8B4513',
      '#5C3A21',
      '#4A2C18',
      '#A0622D',
      '#6B4A35',
      '#8A6446',
      '#33211A',
      '#6A4448',
      '#51483A',
      '#766350',
      '#A87060',
      '#B07864',
      '#2E2622',
      '#8E7860',
      '#7A6C5C',
    ],
  },
  { name: 'tan', hexes: ['#D2B48C', '#C4A27A', '#B08F68', '#A89084', '#AC9A88', '#A09078'] },
  { name: 'beige', hexes: ['#E8DCC4', '#DDCDB2', '#F0E2CC', '#D0C2A8', '#E1D9AA'] },
  { name: 'cream', hexes: ['#FFF8DC', '#FFFDD0', '#FBF3DE'] },
  { name: 'gold', hexes: ['#D4A017', '#C9A227', '#E0B030', '#B8860B'] },
  { name: 'yellow', hexes: ['#FFFF00', '#FFE000', '#FFD21A', '#F5E663', '#FFF27A', '#D8D840'] },
  { name: 'khaki', hexes: ['#BDB76B', '#A59B6A', '#8F865A', '#D2CA88'] },
  { name: 'olive', hexes: ['#808000', '#6B6B23', '#556B2F', '#4B4A20'] },
  { name: 'lime', hexes: ['#BFFF00', '#32FF00', '#A4E02A', '#80E010'] },
  {
    name: 'green',
    hexes: [
      '#008000',
      '#00B030',
      '#2E8B3C',
      '#1E5A28',
      '#4CA64C',
      '#64A850',
      '#123A1C',
      '#5A8A5C',
      '#5E7A60',
      '#465C48',
      '#80A884',
      '#A8C060',
      '#B8D070',
      '#A8D080',
      '#8CC88C',
      '#5E8030',
      '#20D060',
      '#00A878',
      '#00F47A',
      '#C8D09C',
      '#B6C4AC',
      '#4C7040',
      '#457842',
      '#223018',
      '#2F4822',
      '#3C4C2C',
    ],
  },
  { name: 'mint', hexes: ['#AAF0D1', '#98E8B8', '#BDE8C8', '#A0CEBC'] },
  { name: 'teal', hexes: ['#008080', '#0F6B70', '#1F4E55', '#2A8C85'] },
  { name: 'turquoise', hexes: ['#40E0D0', '#20C8B8', '#48C8C4', '#7ADCD6'] },
  { name: 'cyan', hexes: ['#00FFFF', '#20E0F4', '#90F4FF'] },
  { name: 'sky blue', hexes: ['#87CEEB', '#6FBDF0', '#A9D6F5', '#8EB8DE', '#A4BEC6', '#D6E6F8'] },
  {
    name: 'blue',
    hexes: [
      '#0000FF',
      '#1E5AD8',
      '#2F6FC0',
      '#1E90FF',
      '#3A50B4',
      '#4A7BA8',
      '#10309A',
      '#48607C',
      '#6E8CB0',
      '#3C567E',
      '#8496B2',
    ],
  },
  { name: 'navy', hexes: ['#000080', '#101C4C', '#1B2A4E', '#16233A', '#2A3656', '#191970'] },
  { name: 'indigo', hexes: ['#4B0082', '#3A2478'] },
  {
    name: 'purple',
    hexes: [
      '#800080',
      '#7A2AA8',
      '#6A3FA0',
      '#5B2A66',
      '#8E5AA8',
      '#3C1C44',
      '#6E5A84',
      '#584866',
      '#8E4585',
      '#5E4456',
    ],
  },
  { name: 'violet', hexes: ['#8F00FF', '#9A50F0', '#7F4FE0'] },
  { name: 'lavender', hexes: ['#C8B8E8', '#B8A4DC', '#D8CCF0', '#E6E0FA'] },
  { name: 'magenta', hexes: ['#FF00FF', '#D81EA8', '#E020D0', '#C01868'] },
  {
    name: 'pink',
    hexes: [
      '#FFC0CB',
      '#FF69B4',
      '#F08CB0',
      '#F4A8C0',
      '#FF3E8A',
      '#F8D4DC',
      '#D87898',
      '#B88890',
      '#C8709A',
      '#9C4A70',
      '#A86872',
    ],
  },
];

const PROTOTYPES = COLOR_NAMES.flatMap(({ name, hexes }) =>
  hexes.map((hex) => {
    const [x = 0, y = 0, z = 0] = pointOfHex(hex);
    return { name, x, y, z };
  }),
);

/** @param hex `#RRGGBB` */
export function nameOfColor(hex: string): string {
  const [x = 0, y = 0, z = 0] = pointOfHex(hex);
  let best = '';
  let nearest = Number.POSITIVE_INFINITY;
  for (const prototype of PROTOTYPES) {
    const dx = x - prototype.x;
    const dy = y - prototype.y;
    const dz = z - prototype.z;
    const distance = dx * dx + dy * dy + dz * dz;
    if (distance < nearest) {
      nearest = distance;
      best = prototype.name;
    }
  }
  return best;
}

/** White objects in shade: minimum lightness, maximum chroma, and minimum share of the palette. */
const SHADED_WHITE = { lightness: 0.8, chroma: 0.05, share: 0.05 };

/**
 * Returns the words for the colours of a palette, in its order, each once. White objects are seldom fully lit: if no
 * colour is white, the lightest of several colours is called white if it is light and has almost no chroma.
 *
 * @param hex `#RRGGBB` each.
 * @param shares Of each, 0 to 1.
 */
export function namesOfPalette(hex: readonly string[], shares: readonly number[]): string[] {
  const names = hex.map(nameOfColor);
  if (hex.length > 1 && !names.includes('white')) {
    const points = hex.map(pointOfHex);
    const lightness = points.map(([x = 0]) => x);
    const lightest = lightness.indexOf(Math.max(...lightness));
    const [x = 0, y = 0, z = 0] = points[lightest] ?? [];
    const { lightness: min, chroma, share } = SHADED_WHITE;
    if (x >= min && Math.hypot(y, z) < chroma && (shares[lightest] ?? 0) >= share) {
      names.splice(lightest + 1, 0, 'white');
    }
  }
  return [...new Set(names)];
}
