import type { Model } from '../model.ts';
import { commandOf, responseText, shownRequest } from '../search.ts';
import { TEXTS } from '../texts.ts';
import { asPython, asTypeScript } from './request-code.ts';
import type { ShownRequest } from './shown-request.ts';

export async function showRequest(model: Model, form: ShownRequest['form'] | null, isKeyed: boolean): Promise<void> {
  if (form === null) return model.update({ request: null });
  if (form !== 'json') return model.update({ request: { form, text: codeOf(model, form, isKeyed) } });
  const waiting: ShownRequest = { form, text: TEXTS.results.loading };
  model.update({ request: waiting });
  try {
    const text = await responseText(model);
    // The user may have left it.
    if (model.pageData.request === waiting) model.update({ request: { form, text } });
  } catch (error) {
    if (model.pageData.request !== waiting) return;
    model.update({ request: null });
    model.showError(error);
  }
}

function codeOf(model: Model, form: 'curl' | 'typescript' | 'python', isKeyed: boolean): string {
  if (form === 'curl') return commandOf(model, isKeyed);
  const request = { ...shownRequest(model), server: location.origin, collection: model.state.collection, isKeyed };
  return form === 'python' ? asPython(request) : asTypeScript(request);
}
