import type { SharedQueue } from '@akin/queue';

/** Why an analyzer will get no work, if the fleet uses other models. */
export async function modelMismatch(
  queue: Pick<SharedQueue, 'announcedContracts'>,
  ...contracts: [string, ...string[]]
): Promise<string | undefined> {
  const announced = await queue.announcedContracts();
  if (announced.length === 0 || contracts.some((one) => announced.includes(one))) return undefined;
  return `This analyzer has the models ${contracts.join(' and ')}; the fleet has work only for ${announced.join(' and ')}. So this analyzer gets none.`;
}
