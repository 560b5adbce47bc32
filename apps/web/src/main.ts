import { createClient } from '@akin/client';
import { render } from 'lit-html';
import { showModal } from './details/details.ts';
import { watchDrag } from './grid/drag.ts';
import { updateGrids, watchGrids } from './grid/grid.ts';
import { enterEntry, keepPlace, nextEntry } from './kept-results.ts';
import { keyOfTab } from './key.ts';
import { watchDrops, watchKeys } from './listeners.ts';
import { Model } from './model.ts';
import { begin, stateOfPage, watchHistory } from './navigation.ts';
import { page } from './page.ts';
import { createActions } from './page-actions/create-actions.ts';
import { commandOf } from './search.ts';
import { selectBetween } from './selection.ts';
import { VIEWS } from './views.ts';

const key = keyOfTab();
const root = document.getElementById('app') as HTMLElement;
const model = new Model(
  createClient({ baseUrl: '', retries: 0, ...(key === undefined ? {} : { key }) }),
  stateOfPage(),
  draw,
);
const actions = createActions(model, key !== undefined);

let isDrawn = false;
function draw(): void {
  // The header and the empty cards of the HTML.
  if (!isDrawn) root.replaceChildren();
  isDrawn = true;
  const focused = document.activeElement;
  const curl = commandOf(model, key !== undefined);
  const collectionOf = (name: string) => model.akin.collection(name);
  render(page(model.state, model.pageData, actions, curl, collectionOf), root);
  showModal();
  VIEWS.groups.now?.showCompared();
  updateGrids();
  // A button that the user has pressed may be gone. The keyboard goes on with the results.
  const isLost = focused !== null && !focused.isConnected && document.activeElement === document.body;
  if (isLost) document.getElementById('results')?.focus({ preventScroll: true });
}

watchHistory(model);
watchKeys(model, actions);
watchDrops(model, actions);
watchDrag(() => {
  const before = model.pageData.selected;
  return (from, to) => selectBetween(model, before, from, to);
});
watchGrids(draw, () => model.pageData.error === null && !model.pageData.away && actions.loadMore());
// The page itself restores the place, when the results are there.
history.scrollRestoration = 'manual';
enterEntry(history.state);
history.replaceState({ ...history.state, ...(history.state?.entry ? {} : nextEntry()) }, '');
addEventListener('pagehide', () => keepPlace(model));
void begin(model);
