import type { Actions } from './actions.ts';
import { droppedFiles, holdsFolder } from './add/files.ts';
import { ADDING } from './add/lazy.ts';
import { moveFocus } from './grid/focus.ts';
import type { Model } from './model.ts';
import { VIEWS } from './views.ts';

export function watchKeys(model: Model, actions: Actions): void {
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (!event.ctrlKey && !event.metaKey && !event.altKey && moveFocus(event)) event.preventDefault();
    const isTyping = target.closest('input:not([type="checkbox"]), select, textarea, dialog');
    if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping && handleGlobalKey(event, model, actions))
      event.preventDefault();
    const isElsewhere =
      event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog');
    if (isElsewhere || model.state.view !== 'groups') return;
    if (VIEWS.groups.now?.handleReviewKey(event.key, actions)) event.preventDefault();
  });
}

/** Keys that are the same in all views. @returns whether the key was handled */
function handleGlobalKey({ key, shiftKey, target }: KeyboardEvent, model: Model, actions: Actions): boolean {
  const { id } = (target as Element).closest<HTMLElement>('.results .card')?.dataset ?? {};
  if (key === 'Escape') return closeMenuOrSelection(model, actions);
  if (key === '?') actions.showHelp();
  else if (key === '/') document.querySelector<HTMLInputElement>('header input[type="search"]')?.focus();
  else if (key.toLowerCase() === 'x' && id !== undefined) actions.select(id, { range: shiftKey });
  else return false;
  return true;
}

/** Closes an open menu, or else clears the selection. @returns whether there was any */
function closeMenuOrSelection(model: Model, actions: Actions): boolean {
  const menu = document.querySelector<HTMLDetailsElement>('details.menu[open]');
  const { menuVisible, selected } = model.pageData;
  if (menu === null && !menuVisible && selected.size === 0) return false;
  if (menuVisible) actions.showMenu(false);
  else if (menu === null) actions.clearSelection();
  else {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
  return true;
}

export function watchDrops(model: Model, actions: Actions): void {
  addEventListener('paste', (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith('image/'));
    if (file) void actions.upload(file);
  });
  addEventListener('dragover', (event) => {
    if (isTextForInput(event)) return;
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) document.body.classList.remove('dropping');
  });
  addEventListener('drop', (event) => {
    if (isTextForInput(event)) return;
    event.preventDefault();
    document.body.classList.remove('dropping');
    const { dataTransfer } = event;
    if (dataTransfer === null) return;
    const file = dataTransfer.files[0];
    const address = dataTransfer.getData('text/uri-list');
    // A single dropped picture is searched for. In an empty collection it is added instead.
    const isToAdd =
      dataTransfer.files.length > 1 || holdsFolder(dataTransfer) || model.pageData.status?.documents === 0;
    if (file && isToAdd) {
      // The browser gives the files only now.
      const dropped = droppedFiles(dataTransfer);
      void ADDING.load()
        .then(async ({ askToAdd }) => askToAdd(model, await dropped))
        .catch((error) => model.showError(error));
    } else if (file) void actions.upload(file);
    else if (address.startsWith('http')) actions.searchBy({ by: 'url', url: address });
  });
}

/** Text that is dragged onto an input: the browser itself puts it there. */
function isTextForInput({ target, dataTransfer }: DragEvent): boolean {
  return (target as Element).closest('input') !== null && dataTransfer?.types.includes('Files') === false;
}
