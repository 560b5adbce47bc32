/** A module with a small vector, for processes that are killed. */
export const TINY_MODULES = [
  {
    name: 'tiny',
    outputs: [{ name: 'tiny_descriptor', type: 'string', returnedByDefault: false }],
    descriptor: { output: 'tiny_descriptor', cell: 'tiny_cluster', dimensions: 2 },
  },
];

/** Groups of near points. */
export const TINY_GROUPS = { name: 'tiny 1', module: 'tiny', maxDistance: 0.1, cellsOf: () => [0] };

/** Its outputs are the descriptor alone, as a JSON array. */
export function parseTinyOutputs(json) {
  return {
    fields: new Map(),
    descriptors: new Map([['tiny', { vector: Float32Array.from(JSON.parse(json)) }]]),
  };
}

/** Nobody reads the texts. */
export const tinyDescriptorTexts = () => new Map();
