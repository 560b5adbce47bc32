/**
 * Copies a text. Browsers have the clipboard only for pages from https or from this computer, and users may refuse it.
 * Otherwise, they copy a selected text.
 */
export async function copyText(text: string): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  try {
    if (clipboard !== undefined) return await clipboard.writeText(text);
  } catch {
    // The user or the browser has refused it.
  }
  const field = Object.assign(document.createElement('textarea'), { value: text });
  // While a dialog is open, nothing outside of it can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
