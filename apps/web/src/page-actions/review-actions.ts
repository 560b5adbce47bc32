import type { ReviewActions } from '../actions.ts';
import { EDITS } from '../edits/lazy.ts';
import type { Model } from '../model.ts';
import { navigate } from '../navigation.ts';
import { search } from '../search.ts';
import { VIEWS } from '../views.ts';
import { loadAndRun } from './load-and-run.ts';

export function reviewActions(model: Model): ReviewActions {
  type Review = NonNullable<typeof VIEWS.groups.now>;
  const use = (run: (review: Review) => void | Promise<void>) => loadAndRun(model, VIEWS.groups, run);
  return {
    // All groups: the filters of a search would hide some members.
    reviewGroups: () => navigate(model, { view: 'groups', query: null, words: '', filters: [] }),
    markForDeletion: (ids, isChosen) => VIEWS.groups.now?.choose(model, ids, isChosen),
    markAllExcept: (keep, id) => use((review) => review.markAllExcept(model, keep, id)),
    markAsDifferent: (id) => use((review) => review.separate(model, id)),
    markPairAsDifferent: (pair) => use((review) => review.separatePair(model, pair)),
    loadMorePairs: () => use((review) => review.loadPairs(model, 'next')),
    setMinScore: (minScore) => VIEWS.groups.now?.setMinScore(model, minScore),
    compare: (comparison) => model.update({ review: { ...model.pageData.review, comparison } }),
    loadMoreMembers: (id) => use((review) => review.moreMembers(model, id)),
    askForDelete() {
      history.pushState({ asks: true }, '');
      VIEWS.groups.now?.askForDelete();
    },
    answered() {
      if (history.state?.asks) history.back();
    },
    async deleteMarked(isMerging) {
      model.update({ review: { ...model.pageData.review, deleting: true } });
      const { groups, minScore, marked: ids } = model.pageData.review;
      await use(async ({ membersAbove, takeovers }) => {
        const members = isMerging ? groups.map((group) => membersAbove(group, minScore)) : [];
        const { deleteDocuments } = await EDITS.load();
        const isDone = await deleteDocuments(model, [...ids], takeovers(members, ids));
        if (!isDone) return;
        // What was marked meanwhile stays so.
        const marked = new Set([...model.pageData.review.marked].filter((id) => !ids.has(id)));
        model.update({ review: { ...model.pageData.review, marked } });
        await search(model, 0, true);
      });
      model.update({ review: { ...model.pageData.review, deleting: false } });
    },
  };
}
