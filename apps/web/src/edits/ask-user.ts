import { TEXTS } from '../texts.ts';

interface DialogOptions {
  readonly title: string;
  readonly text?: string;
  /** The label of the button that confirms. */
  readonly action: string;
  /** The label of a second button. */
  readonly second?: string;
  /** Asks for a text; `values` are suggestions. */
  readonly input?: { readonly label: string; readonly value?: string; readonly values?: readonly string[] };
}

export interface Answer {
  /** Empty if no text was requested. */
  readonly text: string;
  readonly isSecond: boolean;
}

/** Asks a question in a dialog. @returns null if the user cancelled */
export function askUser({ title, text, action, second, input }: DialogOptions): Promise<Answer | null> {
  const dialog = make('dialog', { className: 'ask' });
  dialog.setAttribute('aria-label', title);
  const form = make('form', { method: 'dialog' });
  form.append(make('h2', { textContent: title }));
  if (text !== undefined) form.append(make('p', { textContent: text }));
  const field = make('input', { type: 'text', required: true, autocomplete: 'off', maxLength: 100 });
  if (input) {
    field.ariaLabel = input.label;
    field.placeholder = input.label;
    field.value = input.value ?? '';
    const list = make('datalist', { id: 'ask-values' });
    list.append(...(input.values ?? []).map((value) => make('option', { value })));
    if (input.values) field.setAttribute('list', list.id);
    form.append(field, list);
  }
  const buttons = make('div', { className: 'dialog-actions' });
  const cancel = make('button', { type: 'button', textContent: TEXTS.page.cancel });
  // Not a submit button: Enter would choose the first of them.
  const other = make('button', { type: 'button', textContent: second ?? '' });
  buttons.append(
    cancel,
    ...(second === undefined ? [] : [other]),
    make('button', { className: 'primary', textContent: action }),
  );
  form.append(buttons);
  dialog.append(form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let answer: Answer | null = null;
    let isSecond = false;
    form.addEventListener('submit', () => {
      const text = input ? field.value.trim() : '';
      if (!input || text !== '') answer = { text, isSecond };
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

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
