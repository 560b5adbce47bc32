import type { ViewActions } from '../actions.ts';
import { ADDING } from '../add/lazy.ts';
import { saveCardFields } from '../card-fields.ts';
import { copyText } from '../copy-text.ts';
import { saveLayout } from '../grid/layout.ts';
import { forgetKey } from '../key.ts';
import { lazyPart } from '../lazy.ts';
import type { Model } from '../model.ts';
import { navigate, showCollection, switchToOtherCollection } from '../navigation.ts';
import { dismissRun, retryRun } from '../runs/watch-runs.ts';
import { search } from '../search.ts';
import { VIEWS } from '../views.ts';
import { loadAndRun } from './load-and-run.ts';

const HELP = lazyPart(() => import('../help/help.ts'));

export function viewActions(model: Model): ViewActions {
  type Manage = NonNullable<typeof VIEWS.manage.now>;
  const manage = (run: (part: Manage) => Promise<void>) => void loadAndRun(model, VIEWS.manage, run);
  return {
    showCollection: (collection) => showCollection(model, collection),
    showHelp: () => void loadAndRun(model, HELP, ({ showHelp }) => showHelp()),
    setLayout(layout) {
      saveLayout(layout);
      model.update({ layout });
    },
    setCardFields(cardFields) {
      saveCardFields(model.state.collection, cardFields);
      model.update({ cardFields });
    },
    setCurrent: (current) => current !== model.pageData.current && model.update({ current }),
    showFacets: (filtersVisible) => model.update({ filtersVisible }),
    showMenu: (menuVisible) => model.update({ menuVisible }),
    loadMore() {
      const { view } = model.state;
      if (model.pageData.loading) return;
      if (view === 'search') void search(model, model.pageData.documents.length);
      if (view === 'changes') void VIEWS.changes.now?.loadMoreChanges(model);
      if (view === 'groups') void VIEWS.groups.now?.loadGroups(model, 'next');
    },
    showChanges: () => navigate(model, { view: 'changes', query: null }),
    showManage: () => navigate(model, { view: 'manage', query: null }),
    createCollection: (name, contentModel) => manage((part) => part.createCollection(model, name, contentModel)),
    pullModel: (name) => manage((part) => part.pullModel(model, name)),
    stopPull: (name) => manage((part) => part.stopPull(model, name)),
    setNewModel: (name) => void VIEWS.manage.now?.setNewModel(model, name),
    reindex: (name) => manage((part) => part.reindex(model, name)),
    pauseReindex: () => manage((part) => part.pauseReindex(model)),
    resumeReindex: () => manage((part) => part.resumeReindex(model)),
    dropCollection: (name) =>
      manage((part) => part.dropCollection(model, name, (dropped) => switchToOtherCollection(model, dropped))),
    clearDemo: () => manage((part) => part.clearDemo(model)),
    createKey: (key) => manage((part) => part.createKey(model, key)),
    revokeKey: (id, name) => manage((part) => part.revokeKey(model, id, name)),
    forgetKey() {
      forgetKey();
      location.reload();
    },
    async addFiles(files) {
      await loadAndRun(model, ADDING, (part) => part.addFiles(model, files));
    },
    retry: (what) => void VIEWS.changes.now?.retryChanges(model, what),
    openRun: (opened) => model.update({ runs: { ...model.pageData.runs, opened } }),
    retryRun(id) {
      const files = ADDING.now?.failedFilesOf(id);
      if (files) void loadAndRun(model, ADDING, (part) => part.addFilesAgain(model, id, files));
      else void retryRun(model, id);
    },
    dismissRun: (id) => void dismissRun(model, id),
    copy: copyText,
  };
}
