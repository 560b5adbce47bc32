import type { ModuleManifest } from '@akin/domain';
import type { Pixels } from '@akin/imaging';
import type { Picture } from './picture.ts';

/** A vector, and the name of what made it: vectors of different models are never compared. */
export interface Descriptor {
  /** Such as `akin-1:d52ec204` or `color-2`; a change of the arithmetic needs a new name. At most 100 of `\w . : -`. */
  readonly model: string;
  /** Unit length. akin rounds it to half precision. */
  readonly vector: Float32Array;
}

/** What a module returns: a value for each output of its manifest, without the codes that akin makes of a descriptor. */
export type ModuleValues = Readonly<
  Record<string, boolean | string | bigint | number | readonly string[] | readonly number[] | Descriptor>
>;

/** The scores of three distances that training measures on a folder of pictures. */
export interface Scores {
  /** Of the median distance of two pictures taken at random. */
  readonly usual: number;
  /** Of the distance that one in a hundred such pairs stays below. */
  readonly rare: number;
  /** Of a share of that, so that training does not depend on how many copies the folder holds. */
  readonly near: number;
  /** That share. */
  readonly nearAt: number;
}

/** The default export of `<module>/module.ts`. */
export interface Module {
  readonly manifest: ModuleManifest;
  /**
   * Analyzes one picture in a worker thread. It takes from the picture what it needs (pixels at some size, the features
   * of a network); equal pixels give equal values, whatever else is asked for.
   */
  readonly analyze: (picture: Picture) => ModuleValues | Promise<ModuleValues>;
  /** What the scores of the module's descriptor say, if not what `NON_MATCHING_SCORES` says. Taken up by training. */
  readonly scores?: Scores;
  /** Drawn pictures and what the module must say of them; every one is checked by the contract test. */
  readonly examples: readonly Example[];
}

/** Either values that must come out, or a picture that must be nearer to one than to another. */
type Example = { readonly title: string; readonly picture: () => Pixels } & (
  | { readonly gives: ModuleValues }
  | { readonly nearer: () => Pixels; readonly than: () => Pixels }
);
