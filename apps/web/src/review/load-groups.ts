import type { Model } from '../model.ts';
import { offerUndo } from '../undo.ts';
import { asCurl, groupsParameters } from '../view-state.ts';
import { membersAbove, visibleMarks } from './files.ts';
import { idsToDelete, type KeepRule } from './keep.ts';
import { loadPairs } from './part-pairs.ts';
import { MEMBERS_SHOWN, NO_REVIEW, type Review } from './state.ts';
import { REVIEW_TEXTS } from './texts.ts';

const GROUPS_PAGE = 20;
const MAX_GROUPS = 100;
const MEMBERS_PAGE = 100;
/** After a commit, the groups are updated with a short delay. */
const BEHIND_MILLISECONDS = 1_500;

type Page = 'first' | 'next' | 'again';

/** The last call of `loadGroups`. */
let running: Promise<void> = Promise.resolve();

/** @param page The first page, the next one, or a reload of the shown ones, which stay visible until the response. */
export function loadGroups(model: Model, page: Page): Promise<void> {
  running = load(model, page);
  return running;
}

async function load(model: Model, page: Page): Promise<void> {
  // A further page does not end the loading of pairs.
  const mine = model.start(page === 'next' ? 'page' : 'view');
  const before = page === 'first' ? { ...NO_REVIEW, minScore: model.pageData.review.minScore } : model.pageData.review;
  model.update({ loading: true, error: null, review: before });
  const rows = page === 'again' ? Math.min(Math.max(before.groups.length, GROUPS_PAGE), MAX_GROUPS) : GROUPS_PAGE;
  const cursor = page === 'next' ? before.nextCursor : undefined;
  try {
    const found = await model.collection.groups(groupsParameters(model.state, rows, model.filters(), cursor), mine);
    // The user has changed a group meanwhile: the answer may be older.
    if (page === 'again' && model.pageData.review.groups !== before.groups) {
      model.update({ loading: false });
      return mayReload(model) ? loadGroups(model, 'again') : undefined;
    }
    const { groups, numFound, numFoundExact, threshold, commit, asOfCommit, nextCursor } = found;
    const maxNumFound = Math.max(before.maxNumFound, numFound);
    const counts = { numFound, numFoundExact, threshold, commit, asOfCommit, nextCursor, maxNumFound };
    const all = page === 'next' ? [...model.pageData.review.groups, ...groups] : groups;
    model.update({ loading: false, review: withVisibleMarks({ ...model.pageData.review, ...counts, groups: all }) });
    if (page !== 'next') await loadPairs(model, page, mine.signal);
    if (asOfCommit < commit) {
      setTimeout(() => mayReload(model, mine.signal) && void loadGroups(model, 'again'), BEHIND_MILLISECONDS);
    }
  } catch (error) {
    if (!mine.signal.aborted) model.update({ loading: false, error: model.messageFor(error) });
  }
}

function withVisibleMarks(review: Review): Review {
  return { ...review, marked: visibleMarks(review.marked, review.groups, review.minScore) };
}

export function setMinScore(model: Model, minScore: number): void {
  model.update({ review: withVisibleMarks({ ...model.pageData.review, minScore }) });
}

export function groupsCommand(model: Model, hasKey: boolean): string {
  const path = model.collection.searchAddress('groups', groupsParameters(model.state, GROUPS_PAGE, model.filters()));
  return asCurl(`${location.origin}${path}`, hasKey);
}

/** Groups must not change while the user marks members, or has scrolled down. */
export function mayReload({ state, pageData }: Model, signal?: AbortSignal): boolean {
  const { marked, deleting, groups } = pageData.review;
  const further = groups.length > MAX_GROUPS || groups.some(({ members }) => members.length > MEMBERS_SHOWN);
  const busy =
    pageData.loading ||
    pageData.opened !== null ||
    pageData.review.comparison !== null ||
    deleting ||
    marked.size > 0 ||
    further;
  return state.view === 'groups' && signal?.aborted !== true && !busy;
}

export async function moreMembers(model: Model, id: string): Promise<void> {
  await loadMembers(model, id).catch((error) => model.showError(error));
}

/** @returns whether the group has more members than are loaded */
async function loadMembers(model: Model, id: string): Promise<boolean> {
  const known = model.pageData.review.groups.find((group) => group.id === id);
  if (known === undefined) return false;
  const { groups } = await model.collection.groups({
    ...groupsParameters(model.state, 1, model.filters()),
    'group.id': id,
    'group.limit': MEMBERS_PAGE,
    'group.offset': known.members.length,
  });
  // They have been loaded, or changed, by something else meanwhile.
  if (!model.pageData.review.groups.some((group) => group.members === known.members)) return true;
  const members = [...known.members, ...(groups[0]?.members ?? [])];
  // Members may have been deleted meanwhile: then the size is the number of loaded ones.
  const size = groups[0]?.members.length === MEMBERS_PAGE ? (groups[0]?.size ?? 0) : members.length;
  const all = model.pageData.review.groups.map((group) => (group.id === id ? { ...group, size, members } : group));
  model.update({ review: { ...model.pageData.review, groups: all } });
  return members.length < size;
}

export function choose(model: Model, ids: readonly string[], isChosen: boolean): void {
  const marked = new Set(model.pageData.review.marked);
  for (const id of ids) isChosen ? marked.add(id) : marked.delete(id);
  model.update({ review: { ...model.pageData.review, marked } });
}

/**
 * Marks all members of a group for deletion except the one to keep, including those not loaded yet. Without an id, does
 * so in all groups, which are loaded first.
 */
export async function markAllExcept(model: Model, keep: KeepRule, id?: string): Promise<void> {
  const { state } = model;
  // In another view, the marks would come to other groups.
  const isLeft = () => model.state.view !== state.view || model.state.collection !== state.collection;
  try {
    if (id === undefined) while (await loadNext(model, isLeft));
    for (const { id: one } of model.pageData.review.groups.filter((group) => id === undefined || group.id === id)) {
      while (!isLeft() && hasMore(model, one) && (await loadMembers(model, one)));
      if (isLeft()) return;
      const group = model.pageData.review.groups.find((known) => known.id === one);
      const members = group ? membersAbove(group, model.pageData.review.minScore) : [];
      choose(
        model,
        members.map((member) => member.id),
        false,
      );
      if (members.length > 1) choose(model, idsToDelete(members, keep), true);
    }
  } catch (error) {
    model.showError(error);
  }
}

function hasMore({ pageData }: Model, id: string): boolean {
  const group = pageData.review.groups.find((one) => one.id === id);
  return group !== undefined && group.members.length < group.size;
}

/** @returns whether there are more groups */
async function loadNext(model: Model, isLeft: () => boolean): Promise<boolean> {
  await running;
  const { nextCursor, groups } = model.pageData.review;
  if (nextCursor === undefined || isLeft()) return false;
  await loadGroups(model, 'next');
  return model.pageData.review.groups.length > groups.length;
}

const MAX_DECIDED = 100;

/** Offers to undo it. */
export async function separate(model: Model, id: string): Promise<void> {
  const { collection } = model;
  const { review } = model.pageData;
  const group = review.groups.find((one) => one.id === id);
  if (group === undefined) return;
  const ids = membersAbove(group, review.minScore)
    .slice(0, MAX_DECIDED)
    .map((member) => member.id);
  try {
    await collection.decideGroups(ids, 'different');
    const shown = model.pageData.review;
    const groups = shown.groups.filter((one) => one.id !== id);
    const numFound = shown.numFound && shown.numFound - 1;
    model.update({ error: null, review: withVisibleMarks({ ...shown, groups, numFound }) });
    offerUndo(model, {
      text: REVIEW_TEXTS.separated(ids.length),
      async undo() {
        await collection.decideGroups(ids, null);
      },
    });
    // Not while other groups have marks: fewer groups and members would be loaded, and their marks would be lost.
    if (mayReload(model)) await loadGroups(model, 'again');
  } catch (error) {
    model.showError(error);
  }
}
