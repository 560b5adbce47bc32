import path from 'node:path';
import { AkinError } from '@akin/domain';
import { type Analyzer, type AnalyzerConfig, createAnalyzer } from '@akin/modules/analyze';
import { hashLargeFiles, modelSetWith, models as modelsInUse } from '@akin/modules/vectors';
import { Semaphore, unlessAborted } from '@akin/runtime';
import type { ContentModels } from './content-models.ts';

export interface ModelLimits {
  /** A model without calls for this time is closed, which frees its memory. */
  readonly idleMilliseconds: number;
  readonly maxOpen: number;
}

const LIMITS: ModelLimits = { idleMilliseconds: 5 * 60_000, maxOpen: 4 };

/**
 * Analyzes with the content model of the process, or with another one on this machine if a call names one. Each model
 * has its own threads from the first call until it is idle for a while, or too many are open. All share the memory
 * budget for pictures.
 */
export async function createModelAnalyzers(
  config: AnalyzerConfig,
  models: Pick<ContentModels, 'folderOf'>,
  limits: Partial<ModelLimits> = {},
  open = createAnalyzer,
): Promise<Analyzer> {
  const analyzer = await open(config);
  const openOther = (other: AnalyzerConfig) => open({ ...other, shareMemoryWith: analyzer });
  const others = new OtherModels(config, models, { ...LIMITS, ...limits }, openOther);
  const own = modelsInUse().get('content');
  const isOwn = (model: string | undefined) => model === undefined || model === own;
  return {
    ...analyzer,
    analyze: (bytes, options) =>
      isOwn(options.model)
        ? explainMissingModel(config.contentModel, own, () => analyzer.analyze(bytes, options))
        : others.use(options.model as string, options.signal, (one) => one.analyze(bytes, options)),
    encodeText: (text, signal, model) =>
      isOwn(model)
        ? explainMissingModel(config.contentModel, own, () => analyzer.encodeText(text, signal))
        : others.use(model as string, signal, (one) => one.encodeText(text, signal)),
    async [Symbol.asyncDispose]() {
      await others[Symbol.asyncDispose]();
      await analyzer[Symbol.asyncDispose]();
    },
  };
}

class OtherModels implements AsyncDisposable {
  readonly #config: AnalyzerConfig;
  readonly #models: Pick<ContentModels, 'folderOf'>;
  readonly #limits: ModelLimits;
  readonly #openAnalyzer: typeof createAnalyzer;
  readonly #slots: Semaphore;
  /** The models that accept calls, the most recently used one last. */
  readonly #open = new Map<string, OpenModel>();
  /** Also the models that accept no more calls and close after their last one. */
  readonly #all = new Set<OpenModel>();
  readonly #end = new AbortController();

  constructor(
    config: AnalyzerConfig,
    models: Pick<ContentModels, 'folderOf'>,
    limits: ModelLimits,
    open: typeof createAnalyzer,
  ) {
    this.#config = config;
    this.#models = models;
    this.#limits = limits;
    this.#openAnalyzer = open;
    this.#slots = new Semaphore(limits.maxOpen);
  }

  /** @param signal ends the wait for a model that is being opened */
  async use<Value>(
    model: string,
    signal: AbortSignal | undefined,
    work: (analyzer: Analyzer) => Promise<Value>,
  ): Promise<Value> {
    const folder = await this.#models.folderOf(model);
    this.#end.signal.throwIfAborted();
    const one = this.#open.get(model) ?? this.#begin(model, folder);
    this.#open.delete(model);
    this.#open.set(model, one);
    clearTimeout(one.idle);
    one.calls++;
    try {
      return await explainMissingModel(folder, model, async () => work(await unlessAborted(one.analyzer, signal)));
    } finally {
      one.calls--;
      this.#afterCall(model, one);
    }
  }

  #begin(model: string, folder: string | undefined): OpenModel {
    const { contentModel: _, ...rest } = this.#config;
    const config = { ...rest, ...(folder === undefined ? {} : { contentModel: folder }) };
    if (this.#open.size >= this.#limits.maxOpen) this.#evict();
    const one = new OpenModel(this.#slots.acquire(this.#end.signal), async () => {
      if (folder !== undefined) await requireUnchanged(model, folder);
      return this.#openAnalyzer(config);
    });
    this.#all.add(one);
    return one;
  }

  #evict(): void {
    const all = [...this.#open];
    const [model, one] = all.find(([, { calls }]) => calls === 0) ?? all[0] ?? [];
    if (model === undefined || one === undefined) return;
    this.#open.delete(model);
    if (one.calls === 0) void this.#close(one);
  }

  #afterCall(model: string, one: OpenModel): void {
    // It may exist, or be complete, later.
    if (one.failed && this.#open.get(model) === one) this.#open.delete(model);
    if (one.calls > 0) return;
    if (this.#open.get(model) !== one) return void this.#close(one);
    one.idle = setTimeout(() => {
      this.#open.delete(model);
      void this.#close(one);
    }, this.#limits.idleMilliseconds).unref();
  }

  async #close(one: OpenModel): Promise<void> {
    clearTimeout(one.idle);
    await one.close();
    this.#all.delete(one);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new AkinError('unavailable', 'The analyzer is shutting down. Try again later.'));
    this.#open.clear();
    await Promise.all([...this.#all].map((one) => this.#close(one)));
  }
}

/** A model with its own threads, opened as soon as there is a free slot. */
class OpenModel {
  readonly analyzer: Promise<Analyzer>;
  readonly #slot: Promise<() => void>;
  #closing: Promise<void> | undefined;
  calls = 0;
  idle: NodeJS.Timeout | undefined;
  failed = false;

  constructor(slot: Promise<() => void>, open: () => Promise<Analyzer>) {
    this.#slot = slot;
    this.analyzer = slot.then(open);
    this.analyzer.catch(() => {
      this.failed = true;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const [analyzer] = await Promise.allSettled([this.analyzer]);
    if (analyzer.status === 'fulfilled') await analyzer.value[Symbol.asyncDispose]();
    await this.#slot.then(
      (release) => release(),
      () => {},
    );
  }
}

/** @throws AkinError conflict if the folder now contains another model, whose outputs would not fit */
async function requireUnchanged(model: string, folder: string): Promise<void> {
  // Not on the event loop.
  await hashLargeFiles(folder);
  const now = modelSetWith(folder).models.get('content');
  if (now === model) return;
  throw new AkinError(
    'conflict',
    `${folder} now contains ${now}. Put the files of ${model} back, or reindex with ${now}.`,
  );
}

/**
 * A faulty model is not the fault of the client, which must not learn its path: a bad request of the model becomes
 * a conflict that names it.
 */
async function explainMissingModel<Value>(
  folder: string | undefined,
  model: string | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (folder === undefined || !(cause instanceof AkinError) || !cause.message.includes(folder)) throw cause;
    const why = cause.message.replaceAll(`${folder}${path.sep}`, '').replaceAll(folder, 'its folder');
    const code = cause.code === 'bad-request' ? 'conflict' : cause.code;
    throw new AkinError(code, `The content model ${model} does not work here: ${why}`, { cause });
  }
}
