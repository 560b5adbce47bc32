import { isTrash } from '@akin/domain';
import { html, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { keyOfTab } from '../key.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import { DEFAULT_COLLECTION } from '../view-state.ts';
import { chosenFiles } from './files.ts';

const T = TEXTS.add;

export function isFilling({ status, runs }: PageData): boolean {
  return (status?.pending ?? 0) > 0 || runs.list.some(({ state }) => state === 'running');
}

/** The view of an empty collection: pictures can be dropped, chosen, or indexed by a command. */
export function emptyCollection(collection: string, pageData: PageData, actions: Actions): TemplateResult {
  const { scope } = pageData;
  if (isTrash(collection)) return note(TEXTS.trash.isEmpty, TEXTS.trash.nothing);
  if (isFilling(pageData)) return note(T.indexing, T.soon);
  if (scope === 'search') return note(T.empty, T.notYet);
  const key = keyOfTab() === undefined ? '' : 'AKIN_KEY=… ';
  const named = collection === DEFAULT_COLLECTION ? '' : ` --collection ${collection}`;
  const command = `${key}npx akin-search index ~/Pictures${named}`;
  return html`<section class="empty" aria-label=${T.empty}>
    <h2>${T.empty}</h2>
    <p>${T.drop}</p>
    <p class="line">${picker(T.folder, true, actions)} ${picker(T.files, false, actions)}</p>
    <p class="about">${T.terminal}</p>
    <p class="line"><code>${command}</code> <button class="quiet" @click=${() => actions.copy(command)}>${TEXTS.page.copy}</button></p>
  </section>`;
}

function note(title: string, text: string): TemplateResult {
  return html`<section class="empty" aria-label=${title}><h2>${title}</h2><p>${text}</p></section>`;
}

export function picker(name: string, isFolder: boolean, actions: Actions): TemplateResult {
  const pick = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    if (input.files && input.files.length > 0) void actions.addFiles(chosenFiles(input.files));
    input.value = '';
  };
  return html`<label class=${isFolder ? 'button primary' : 'button'}>
    <input type="file" multiple ?webkitdirectory=${isFolder} accept=${isFolder ? '' : 'image/*'} aria-label=${name} @change=${pick} />${name}
  </label>`;
}
