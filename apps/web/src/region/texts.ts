export const REGION_TEXTS = {
  title: 'Search this part',
  about: 'Draw a rectangle, or move and resize it: also with the arrow keys, and with Shift.',
  region: 'The part: arrow keys move it, Shift and arrow keys resize it',
  search: 'Search',
  shown: (x: number, y: number, w: number, h: number) => `${w} × ${h} % at ${x}, ${y} %`,
} as const;
