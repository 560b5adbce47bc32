import { makeElement } from '../make-element.ts';
import { TEXTS } from '../texts.ts';

interface DialogOptions {
  readonly title: string;
  readonly text?: string;
  readonly action: string;
  readonly second?: string;
  /** Asks for a text; `values` are suggestions. */
  readonly input?: {
    readonly label: string;
    readonly value?: string;
    readonly values?: readonly string[];
    /** A text of any length and several lines, of which nothing is cut. */
    readonly isLong?: boolean;
  };
}

export interface Answer {
  readonly text: string;
  readonly isSecond: boolean;
}

const MAX_ROWS = 8;

export function askUser({ title, text, action, second, input }: DialogOptions): Promise<Answer | null> {
  const dialog = makeElement('dialog', { className: 'ask' });
  dialog.setAttribute('aria-label', title);
  const form = makeElement('form', { method: 'dialog' });
  form.append(makeElement('h2', { textContent: title }));
  if (text !== undefined) form.append(makeElement('p', { textContent: text }));
  const field = input?.isLong
    ? makeElement('textarea', { required: true, rows: MAX_ROWS })
    : makeElement('input', { type: 'text', required: true, autocomplete: 'off', maxLength: 1_000 });
  if (input) {
    field.ariaLabel = input.label;
    field.placeholder = input.label;
    field.value = input.value ?? '';
    const list = makeElement('datalist', { id: 'ask-values' });
    list.append(...(input.values ?? []).map((value) => makeElement('option', { value })));
    if (input.values) field.setAttribute('list', list.id);
    form.append(field, list);
  }
  const buttons = makeElement('div', { className: 'dialog-actions' });
  const cancel = makeElement('button', { type: 'button', textContent: TEXTS.page.cancel });
  // Not a submit button: Enter would choose the first of them.
  const other = makeElement('button', { type: 'button', textContent: second ?? '' });
  buttons.append(
    cancel,
    ...(second === undefined ? [] : [other]),
    makeElement('button', { className: 'primary', textContent: action }),
  );
  form.append(buttons);
  dialog.append(form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let answer: Answer | null = null;
    let isSecond = false;
    form.addEventListener('submit', () => {
      const text = input ? field.value : '';
      if (!input || text.trim() !== '') answer = { text: input?.isLong ? text : text.trim(), isSecond };
    });
    other.addEventListener('click', () => {
      isSecond = true;
      form.requestSubmit();
      isSecond = false;
    });
    cancel.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.showModal();
  });
}
