export const SIDE_BY_SIDE_TEXTS = {
  region: 'Two rankings side by side',
  mode: 'The other way to compare',
  collection: 'The other collection',
  weights: 'Weights on this side',
  isNew: 'new',
  same: 'same place',
  up: (places: number) => `↑ ${places}`,
  down: (places: number) => `↓ ${places}`,
  isHigher: (places: number) => `${places} higher than on the left`,
  isLower: (places: number) => `${places} lower than on the left`,
  inBoth: (both: number, all: number) => `${both} of ${all} are on both sides`,
  nothing: 'Nothing matches.',
} as const;
