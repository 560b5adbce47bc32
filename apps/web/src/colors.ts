/** akin's colour words, each with a typical colour. */
export const COLORS: Readonly<Record<string, string>> = {
  black: '#000000',
  gray: '#808080',
  silver: '#c0c0c0',
  white: '#ffffff',
  red: '#ff0000',
  maroon: '#800000',
  coral: '#ff7f50',
  salmon: '#fa8072',
  orange: '#ff8c00',
  peach: '#ffcba4',
  brown: '#7b3f00',
  tan: '#d2b48c',
  beige: '#e8dcc4',
  cream: '#fff8dc',
  gold: '#d4a017',
  yellow: '#ffff00',
  khaki: '#bdb76b',
  olive: '#808000',
  lime: '#bfff00',
  green: '#008000',
  mint: '#aaf0d1',
  teal: '#008080',
  turquoise: '#40e0d0',
  cyan: '#00ffff',
  'sky blue': '#87ceeb',
  blue: '#0000ff',
  navy: '#000080',
  indigo: '#4b0082',
  purple: '#800080',
  violet: '#8f00ff',
  lavender: '#c8b8e8',
  magenta: '#ff00ff',
  pink: '#ffc0cb',
};

/** The word for exactly this colour, or undefined. */
export function colorName(hex: string): string | undefined {
  return Object.entries(COLORS).find(([, one]) => one === hex.toLowerCase())?.[0];
}
