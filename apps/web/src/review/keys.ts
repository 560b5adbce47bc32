import type { Actions } from '../actions.ts';

/**
 * Keyboard shortcuts of the review: k keeps the focused picture, d marks it for deletion, both move to the next one; n
 * moves to the next group; c compares.
 *
 * @returns whether the key was handled
 */
export function handleReviewKey(key: string, actions: Actions): boolean {
  const card = document.activeElement?.closest<HTMLElement>('.group .card') ?? null;
  const id = card?.dataset.id;
  if (key === 'n') {
    focusIn(nextGroup(card));
    return true;
  }
  if (card === null || id === undefined) return false;
  if (key === 'c') {
    const group = card.closest<HTMLElement>('.group');
    const at = [...(group?.querySelectorAll('.card') ?? [])].indexOf(card);
    if (group?.dataset.group !== undefined) actions.compare({ group: group.dataset.group, at });
    return true;
  }
  if (key !== 'k' && key !== 'd') return false;
  actions.markForDeletion([id], key === 'd');
  focusIn(card.nextElementSibling ?? nextGroup(card));
  return true;
}

function nextGroup(card: Element | null): Element | null | undefined {
  const groups = [...document.querySelectorAll('.group')];
  const own = card?.closest('.group');
  return groups[own ? groups.indexOf(own) + 1 : 0];
}

function focusIn(element: Element | null | undefined): void {
  const picture = element?.querySelector<HTMLElement>('.picture');
  picture?.focus();
  picture?.scrollIntoView({ block: 'center' });
}
