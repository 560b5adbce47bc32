import { isDeepStrictEqual } from 'node:util';
import { AkinError, type Calibration, type ModuleManifest } from '@akin/domain';
import type { Collection, CollectionSchema, Database } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import type { ModelSet } from '../model-sets.ts';
import { GONE_MODEL, type PendingAnalysis, UNKNOWN_MODEL } from '../outputs/pending-analysis.ts';
import { descriptorTable, OPEN_STATES } from './collection-tables.ts';
import { configuredModelSet, modelSetOf } from './model-set.ts';
import { loadSchema } from './schema.ts';

/*
 * Descriptors of different models are never in one collection. Each collection knows the model of each module. A
 * process that opens the store with other models leaves the collection unchanged: it ranks by its documents, filters,
 * deletes and exports, and its own outputs are refused. Only a process with the models of a collection claims its
 * analyses and holds its lease: several model sets coexist in one store. A process may have several of them:
 * each collection is read and compared with its own. A collection without documents changes to the models that were
 * chosen for it, or else to those of the process that opens it.
 */

/** A module whose descriptors in a collection are from another model than this process has. */
export interface OtherModel {
  readonly module: string;
  readonly model: string;
  readonly own: string;
}

/**
 * Gives a collection without descriptors the models of this process, and stores the calibration with the models of a
 * collection.
 */
export async function claimModels(store: Database, collection: Collection): Promise<void> {
  const schema = await loadSchema(store, collection);
  const wanted = await configuredModelSet(store, collection);
  if (wanted === undefined) return;
  for (const module of wanted.modules) {
    const { name } = module;
    const own = wanted.calibrations.get(name);
    const isKnown = own === undefined || isDeepStrictEqual(own, schema.calibrations.get(name));
    if (isKnown && wanted.models.get(name) === schema.models.get(name)) continue;
    await store.engine.transaction(async (tx) => {
      // In the order of commits: first the tables, then the row of the collection, then the counts.
      if (await isModelUnused(tx, collection, name)) {
        await tx.query(`lock table ${descriptorTable(collection.sqlSchema, name)} in access exclusive mode`);
      }
      await tx.query('select from akin.collections where id = $1 for update', [collection.id]);
      if (!(await claimModel(wanted, collection, module, tx))) return;
      await tx.query('update akin.collections set schema_version = schema_version + 1 where id = $1', [collection.id]);
    });
  }
}

/** Whether a module has a model of which no document is left: {@link claimModel} empties its table. */
async function isModelUnused(tx: Queryable, { sqlSchema: S }: Collection, module: string): Promise<boolean> {
  const rows = await tx.query(
    `select from ${S}.descriptor_counts
      where module = $1 and model is not null and documents = 0 and unpublished = 0 and not exists (${openChanges(S)})`,
    [module],
  );
  return rows.length > 0;
}

/** SQL: accepted changes that have a descriptor of the module $1, and that a commit will still apply. */
function openChanges(S: string): string {
  return `select from ${S}.operations o
           where o.state in ${OPEN_STATES} and o.analysis is not null and o.analysis::jsonb #>> array[$1, '0'] is not null`;
}

/**
 * As {@link claimModels}, for one module and given models.
 *
 * @returns whether something changed: then the caller must give the schema a new version
 */
export async function claimModel(
  modelSet: ModelSet,
  collection: Collection,
  { name, descriptor }: ModuleManifest,
  tx: Queryable,
): Promise<boolean> {
  const { sqlSchema: S } = collection;
  const model = modelSet.models.get(name);
  if (model === undefined || descriptor === undefined) return false;
  // Commits count in the same row: one of the two waits for the other and sees its result.
  const [row] = await tx.query<{ before: string | null }>(
    `update ${S}.descriptor_counts d set model = $2, calibration = null from ${S}.descriptor_counts old
      where d.module = $1 and old.module = $1 and d.model is distinct from $2
        and (d.model is null or (d.documents = 0 and d.unpublished = 0 and not exists (${openChanges(S)})))
     returning old.model as before`,
    [name, model],
  );
  if (row !== undefined && row.before !== null) {
    // Descriptors of the new model may have another size. The remaining rows are ended or pending ones.
    const table = descriptorTable(S, name);
    await tx.query(`truncate ${table}`);
    await tx.query(
      `update ${S}.operations set analysis = jsonb_set(analysis::jsonb, array[$1, '0'], to_jsonb($2::text))::text
        where (request, position) in (
          select request, position from ${S}.operations
           where analysis is not null and analysis::jsonb #>> array[$1, '0'] is not null
             -- A commit that applies some now has the old models, and will fail.
             for update skip locked)`,
      [name, GONE_MODEL],
    );
    await tx.query(`alter table ${table} alter column vector type halfvec(${descriptor.dimensions})`);
  }
  return (await writeCalibration(modelSet, S, name, model, tx)) || row !== undefined;
}

async function writeCalibration(
  modelSet: ModelSet,
  S: string,
  module: string,
  model: string,
  tx: Queryable,
): Promise<boolean> {
  const calibration = modelSet.calibrations.get(module);
  if (calibration === undefined) return false;
  const rows = await tx.query(
    `update ${S}.descriptor_counts set calibration = $3
      where module = $1 and model = $2 and calibration is distinct from $3 returning module`,
    [module, model, JSON.stringify(calibration)],
  );
  return rows.length > 0;
}

/**
 * Call this before outputs of this process are stored in a collection or compared with it.
 *
 * @param modules the modules of the outputs; those without a descriptor always fit
 * @param known the schema, if the caller has it, and finds out later whether it was current
 * @throws AkinError conflict that names both models and says what to do
 */
export async function requireOwnModels(
  store: Database,
  collection: Collection,
  modules: readonly string[] = store.modules.map(({ name }) => name),
  known?: CollectionSchema,
): Promise<void> {
  const before = known ?? (await loadSchema(store, collection));
  if (!modules.some((module) => isOther(store, before, module))) return;
  await claimModels(store, collection);
  const schema = await loadSchema(store, collection);
  const module = modules.find((one) => isOther(store, schema, one));
  if (module === undefined) return;
  const { name } = collection;
  throw new AkinError(
    'conflict',
    `The collection ${name} contains ${module} descriptors of the model ${schema.models.get(module)}, but akin uses ${ownModel(store, schema, module)}. They cannot be mixed. Reindex the collection with: akin reindex --collection ${name}`,
  );
}

/**
 * Call this with outputs that were accepted, before they become visible: the collection may have changed its models.
 *
 * @param models the model of each descriptor
 * @throws AkinError conflict
 */
export function requireSameModels(schema: CollectionSchema, models: PendingAnalysis['models']): void {
  for (const [module, model] of models) {
    const theirs = schema.models.get(module);
    if (model === UNKNOWN_MODEL || theirs === undefined || model === theirs) continue;
    const made = model === GONE_MODEL ? 'another model' : `the model ${model}`;
    throw new AkinError(
      'conflict',
      `The ${module} descriptor was made by ${made}, but the collection uses ${theirs}; they cannot be mixed. Analyze the picture again and send the new outputs.`,
    );
  }
}

/**
 * @returns undefined if the models of this process have none
 * @throws AkinError conflict, which names both models, if this process lacks the models of the collection, and no
 *   process that has them stored the calibration
 */
export function calibrationOf(
  store: Database,
  { name }: Collection,
  schema: CollectionSchema,
  module: string,
): Calibration | undefined {
  if (!isOther(store, schema, module)) return modelSetOf(store, schema).calibrations.get(module);
  const calibration = schema.calibrations.get(module);
  if (calibration !== undefined) return calibration;
  const [theirs, own] = [schema.models.get(module), ownModel(store, schema, module)];
  throw new AkinError(
    'conflict',
    `The collection ${name} contains ${module} descriptors of the model ${theirs}, but akin uses ${own} and has no calibration of that model. Reindex the collection with: akin reindex --collection ${name} (docs/content-models.md); or open the store once with an akin of this version that uses ${theirs}.`,
  );
}

/** The modules of a collection whose models are not here. */
export async function otherModels(store: Database, collection: Collection): Promise<OtherModel[]> {
  const schema = await loadSchema(store, collection);
  return Array.from(modelSetOf(store, schema).models, ([module, own]) => ({
    module,
    model: schema.models.get(module) ?? own,
    own,
  })).filter(({ model, own }) => model !== own);
}

export function isOther(store: Database, schema: CollectionSchema, module: string): boolean {
  const [theirs, own] = [schema.models.get(module), ownModel(store, schema, module)];
  return theirs !== undefined && own !== undefined && theirs !== own;
}

function ownModel(store: Database, schema: CollectionSchema, module: string): string | undefined {
  return modelSetOf(store, schema).models.get(module);
}
