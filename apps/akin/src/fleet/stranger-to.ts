import type { SharedQueue } from '@akin/queue';

/** Why no work will come, if the fleet uses other models. */
export async function strangerTo(queue: SharedQueue, contract: string): Promise<string | undefined> {
  const announced = await queue.announced();
  if (announced.length === 0 || announced.includes(contract)) return undefined;
  return `This analyzer has the models ${contract}; the fleet hands out work for ${announced.join(' and ')}: its results would not fit, so it gets none.`;
}
