import type { ModuleManifest, OutputField } from '@akin/domain';

/**
 * The part of a manifest that every module with a descriptor has: the vector, and the four codes that akin makes of it
 * by the module's codebook. A module returns the vector alone.
 */
export function descriptorOutputs(
  module: string,
  dimensions: number,
): { outputs: readonly OutputField[]; descriptor: NonNullable<ModuleManifest['descriptor']> } {
  return {
    outputs: [
      { name: `${module}_cluster`, type: 'long', returnedByDefault: false },
      { name: `${module}_rerank`, type: 'long', returnedByDefault: true },
      { name: `${module}_descriptor`, type: 'string', returnedByDefault: false },
      { name: `${module}_lopq`, type: 'string', returnedByDefault: false },
      { name: `${module}_nclusters`, type: 'string', returnedByDefault: false },
    ],
    descriptor: { output: `${module}_descriptor`, cell: `${module}_cluster`, dimensions },
  };
}
