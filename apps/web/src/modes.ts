import type { FoundDocument } from '@akin/client';
import { html, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { isAnalyzed } from './elements.ts';
import { MODES, type Mode } from './mode.ts';
import { TEXTS } from './texts.ts';
import type { Query } from './view-state.ts';

/** For each mode: its id, its name, and what it finds. */
export const MODE_NAMES: readonly (readonly [Mode, string, string])[] = MODES.map((mode) => {
  const [name, about] = TEXTS.modes.own[mode] ?? TEXTS.modes.other(mode);
  return [mode, name, about];
});

/** Whether pictures can be compared with the query in several ways: not with colours, or with words. */
export function hasModes(query: Query | null): boolean {
  return query !== null && query.by !== 'hex' && query.by !== 'text';
}

/**
 * Buttons to search for similar pictures, one for each mode, if the document has a picture.
 *
 * @param tab the `tabindex` of the buttons
 */
export function similarTo(document: FoundDocument, actions: Actions, tab = 0): readonly TemplateResult[] {
  if (!isAnalyzed(document)) return [];
  return MODE_NAMES.map(
    ([mode, label, about]) =>
      html`<button title=${about} tabindex=${tab} @click=${() => actions.searchBy({ by: 'id', id: document.id }, mode)}>${label}</button>`,
  );
}
