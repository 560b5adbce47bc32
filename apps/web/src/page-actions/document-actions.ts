import { isTrash } from '@akin/domain';
import type { DocumentActions } from '../actions.ts';
import { neighbour, showDetails } from '../details/open.ts';
import { EDITS } from '../edits/lazy.ts';
import { pathOf } from '../file-path.ts';
import { keepResults } from '../kept-results.ts';
import { saveOriginal } from '../key.ts';
import type { Model } from '../model.ts';
import { pushEntry } from '../navigation.ts';
import { search } from '../search.ts';
import { select } from '../selection.ts';
import { TEXTS } from '../texts.ts';
import { pauseUndoTimer, restartUndoTimer, undoLast } from '../undo.ts';
import { writeState } from '../view-state.ts';
import { loadAndRun } from './load-and-run.ts';

export function documentActions(model: Model): DocumentActions {
  type Edits = NonNullable<typeof EDITS.now>;
  const edit = <Result>(run: (edits: Edits) => Result | Promise<Result>) => loadAndRun(model, EDITS, run);
  /** Loads the results again if something was changed. What was selected meanwhile stays so. */
  const changeSelected = async (run: (edits: Edits) => Promise<boolean>) => {
    const before = model.pageData.selected;
    if (!(await edit(run))) return;
    model.update({ selected: new Set([...model.pageData.selected].filter((id) => !before.has(id))) });
    await search(model, 0, true);
  };
  const remove = (edits: Edits, ids: readonly string[]) =>
    isTrash(model.collection.name) ? edits.deleteForGood(model, ids) : edits.deleteDocuments(model, ids);
  /** Closes the details of a document that is moved away. */
  const moveOpened = async (id: string, run: (edits: Edits) => Promise<boolean>) => {
    if (!(await edit(run))) return;
    model.update({ selected: new Set([...model.pageData.selected].filter((one) => one !== id)) });
    actions.open(null);
    await search(model, 0, true);
  };
  const actions: DocumentActions = {
    select: (id, how) => select(model, id, how),
    clearSelection: () => model.update({ selected: new Set() }),
    deleteSelected: () => changeSelected((edits) => remove(edits, [...model.pageData.selected])),
    restoreSelected: () => changeSelected((edits) => edits.restoreDocuments(model, [...model.pageData.selected])),
    emptyTrash: () => changeSelected((edits) => edits.deleteForGood(model)),
    labelSelected: () => changeSelected((edits) => edits.labelSelected(model)),
    copySelected: () => edit((edits) => edits.copySelected(model)),
    editTitle: (document) => edit((edits) => edits.editTitle(model, document)),
    editField: (document, field) => edit((edits) => edits.editField(model, document, field)),
    addLabel: (document, label) =>
      edit((edits) =>
        label === undefined ? edits.askForLabel(model, document) : edits.addLabels(model, document, [label]),
      ),
    removeLabel: (document, label) => edit((edits) => edits.removeLabel(model, document, label)),
    deleteOpened: ({ id }) => moveOpened(id, (edits) => edits.deleteDocuments(model, [id])),
    restoreOpened: ({ id }) => moveOpened(id, (edits) => edits.restoreDocuments(model, [id])),
    async download(document) {
      const name = (pathOf(document) ?? document.id).replace(/^.*[\\/]/, '');
      const isSaved = await saveOriginal(model.collection.originalAddress(document.id), name);
      model.update({ error: isSaved ? null : TEXTS.details.notDownloaded });
    },
    open(document) {
      if (document) {
        model.state = { ...model.state, opened: document.id };
        keepResults(model);
        pushEntry(model, { details: true });
        showDetails(model, document);
        return;
      }
      // A second click, before the browser is back.
      if (model.state.opened === null) return;
      model.state = { ...model.state, opened: null };
      if (history.state?.details) history.back();
      else {
        history.replaceState(history.state, '', writeState(model.state));
        model.update({ opened: null });
      }
    },
    async step(by) {
      const more = () =>
        model.state.view === 'search' &&
        !model.pageData.loading &&
        model.pageData.documents.length < (model.pageData.numFound ?? 0)
          ? search(model, model.pageData.documents.length)
          : Promise.resolve();
      const document = await neighbour(model, by, more);
      if (!document || model.state.opened === null) return;
      model.state = { ...model.state, opened: document.id };
      history.replaceState(history.state, '', writeState(model.state));
      showDetails(model, document);
    },
    async undo() {
      if (await undoLast(model)) await search(model, 0, true);
    },
    forgetUndo: () => model.update({ undoable: null }),
    pauseUndoTimer,
    restartUndoTimer: () => restartUndoTimer(model),
  };
  return actions;
}
