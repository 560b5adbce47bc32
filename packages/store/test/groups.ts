import type { ModuleManifest } from '@akin/domain';
import { commit } from '../src/changes/commit/commit.ts';
import type { Store } from '../src/changes/context.ts';
import { createCollection } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';
import type { ParsedOutputs } from '../src/database/model-sets.ts';
import { listGroups } from '../src/maintenance/groups/list-groups.ts';
import type { GroupRule } from '../src/maintenance/groups/rule.ts';
import { updateGroups } from '../src/maintenance/groups/update-groups.ts';
import { openStore } from '../src/store.ts';
import { sharedStore } from './shared-store.ts';
import {
  accept,
  type EngineKind,
  parseTestOutputs,
  TEST_MODULES,
  testDescriptorTexts,
  testOutputs,
} from './support.ts';

/** Pictures are angles on a circle; members may be 0.1 away from their representative. All cells are searched. */
export const RULE: GroupRule = {
  name: 'test 1',
  module: 'shape',
  maxDistance: 0.1,
  cellsOf: (vector) => [...vector.keys()].sort((a, b) => (vector[b] as number) - (vector[a] as number)),
};

/** A second module, whose descriptors are points on a circle. */
const HUE: ModuleManifest = {
  name: 'hue',
  outputs: [{ name: 'hue_descriptor', type: 'string', returnedByDefault: false }],
  descriptor: { output: 'hue_descriptor', cell: 'hue_cell', dimensions: 2 },
};

function parseOutputs(json: string): ParsedOutputs {
  const { fields, descriptors } = parseTestOutputs(json);
  const { hue } = JSON.parse(json);
  if (hue === undefined) return { fields, descriptors };
  return { fields, descriptors: new Map([...descriptors, ['hue', { vector: Float32Array.from(hue) }]]) };
}

export const picture = (id: string, angle: number, more: object = {}) => ({
  id,
  import: testOutputs({ shape: [Math.cos(angle), Math.sin(angle), 0, 0] }),
  ...more,
});

/** A picture with a point on the circle of the second module, or none. */
export const hued = (id: string, shape: readonly number[], hue: number | null) => ({
  id,
  import: JSON.stringify({
    ...JSON.parse(testOutputs({ shape })),
    ...(hue === null ? {} : { hue: [Math.cos(hue), Math.sin(hue)] }),
  }),
});

/** Helpers for tests of groups with a separate store. Call this in a `describe`. */
export function groupsOn(kind: EngineKind, exactDocuments?: number) {
  let made = 0;
  const on = {
    store: undefined as unknown as Store,
    async collectionOf(...documents: object[]): Promise<Collection> {
      const collection = await createCollection(on.store, `groups-${made++}`);
      await on.add(collection, ...documents);
      return collection;
    },
    async add(collection: Collection, ...changes: object[]): Promise<void> {
      await accept(on.store, collection, changes);
      await commit(on.store, collection);
    },
    update: (collection: Collection, rule = RULE) => updateGroups(on.store, collection, rule, { milliseconds: 60_000 }),
    /** Groups as lists of ids, the representative first. */
    async groups(collection: Collection, request: object = {}): Promise<string[][]> {
      const page = await listGroups(on.store, collection, { rows: 100, members: 100, ...request });
      return page.groups.map(({ members }) => members.map(({ id }) => id));
    },
  };
  const size = exactDocuments === undefined ? {} : { exactDocuments };
  sharedStore(
    kind,
    (opened) => {
      on.store = opened;
    },
    (location) =>
      openStore({
        ...location,
        modules: [...TEST_MODULES, HUE],
        parseOutputs,
        descriptorTexts: testDescriptorTexts,
        graceMilliseconds: 0,
        ...size,
      }),
  );
  return on;
}
