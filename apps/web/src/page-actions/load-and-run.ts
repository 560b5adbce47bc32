import type { LazyPart } from '../lazy.ts';
import type { Model } from '../model.ts';

/** Runs an action of a part of the page that is loaded first. @returns undefined after an error, which the page shows */
export async function loadAndRun<Module, Result>(
  model: Model,
  part: LazyPart<Module>,
  run: (module: Module) => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run(await part.load());
  } catch (error) {
    model.showError(error);
    return undefined;
  }
}
