import { loadCollections, loadStatus, updateFields } from './load-collections.ts';
import { isNoResponse } from './messages.ts';
import type { Model } from './model.ts';
import { updateRuns } from './runs/watch-runs.ts';
import { countAgain, search } from './search.ts';
import { VIEWS } from './views.ts';

/** Interval of requests: during a run, and otherwise. */
const RUNNING_MILLISECONDS = 2_000;
const IDLE_MILLISECONDS = 5_000;
/** A server that does not answer for so long is away. */
const SILENT_MILLISECONDS = 15_000;
/** While nothing changes, runs are requested once in so many times: one over unchanged files changes nothing. */
const IDLE_RUNS = 6;

/** Updates the number of documents and the runs regularly, while the page is visible. */
export async function watchStatus(model: Model): Promise<void> {
  for (let i = 0; ; i += 1) {
    if (!document.hidden) {
      const before = model.pageData.status?.commit;
      await updateStatus(model);
      const { scope, status } = model.pageData;
      const isBusy = isRunning(model) || status?.commit !== before || (status?.pending ?? 0) > 0;
      // A key with the scope `search` must not see runs.
      const maySeeRuns = scope !== null && scope !== 'search';
      if (maySeeRuns && !model.pageData.away && (isBusy || i % IDLE_RUNS === 0)) await updateRuns(model);
    }
    await new Promise((resolve) => setTimeout(resolve, isRunning(model) ? RUNNING_MILLISECONDS : IDLE_MILLISECONDS));
  }
}

function isRunning({ pageData }: Model): boolean {
  return pageData.runs.list.some(({ state }) => state === 'running');
}

/**
 * Updates the number of documents. If akin answers again after it was away, loads what could not be loaded. New
 * documents are only announced: they would move the pictures under the pointer.
 */
export async function updateStatus(model: Model): Promise<void> {
  const name = model.state.collection;
  try {
    const status = await answer(loadStatus(model));
    if (status === undefined || name !== model.state.collection) return;
    const { away } = model.pageData;
    model.update({ status, scope: status.scope ?? null, away: false });
    model.shownStatus ??= status;
    model.shownCommit ??= status.commit;
    model.fieldsCommit ??= status.commit;
    await updateFields(model);
    if (away) await Promise.all([loadCollections(model), loadAgain(model)]);
    else await showChange(model);
  } catch (error) {
    if (isNoResponse(error) && name === model.state.collection) model.update({ away: true });
    // Other errors are ignored here: the next search shows them.
  }
}

/** @throws the error of an unreachable server if there is no response for some time */
function answer<Response>(response: Promise<Response>): Promise<Response> {
  return Promise.race([
    response,
    new Promise<never>((_, reject) =>
      setTimeout(() => reject(new DOMException('', 'TimeoutError')), SILENT_MILLISECONDS),
    ),
  ]);
}

/** Loads what could not be loaded while akin was away. */
async function loadAgain(model: Model): Promise<void> {
  const { failedStart } = model;
  if (failedStart !== null) await search(model, failedStart, true);
}

/**
 * Announces documents that are new since the last search, or loads them if no picture is shown yet. What cannot be
 * loaded now, because the user is at work or something else is being loaded, is loaded by a later call.
 */
async function showChange(model: Model): Promise<void> {
  const { state, pageData, shownStatus } = model;
  const { commit = 0, documents = 0 } = pageData.status ?? {};
  if (state.view === 'groups') {
    const isOld = pageData.review.numFound !== null && pageData.review.asOfCommit < commit;
    return isOld && VIEWS.groups.now?.mayReload(model) ? search(model, 0, true) : undefined;
  }
  if (state.view !== 'search' || pageData.loading) return;
  const isAll = state.query === null && state.words === '' && state.filters.length === 0;
  const isChanged = commit !== model.shownCommit;
  if (pageData.documents.length === 0 && (isChanged || (isAll && documents > 0))) return search(model, 0, true);
  const shown = isAll ? pageData.numFound : shownStatus?.documents;
  const fresh = Math.max(0, documents - (shown ?? documents));
  if (fresh !== pageData.fresh) model.update({ fresh });
  // The results came before the status of their commit, and with it the fields that are new in them.
  if (model.countedFields !== null && model.countedFields !== model.fieldNames) countAgain(model);
}
