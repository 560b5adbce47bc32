import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.request;

/** Forms in which the page shows its search; `json` is the response. */
const FORMS = ['curl', 'typescript', 'python', 'json'] as const;
type Form = (typeof FORMS)[number];

export function requestView({ request }: PageData, actions: Actions): TemplateResult | typeof nothing {
  if (request === null) return nothing;
  const tab = (form: Form) =>
    html`<button aria-pressed=${request.form === form} @click=${() => actions.showRequest(form)}>${T.forms[form]}</button>`;
  return html`<section class="request" aria-label=${T.region}>
    <div class="modes" role="group" aria-label=${T.region}>
      ${FORMS.map(tab)}
      <span class="spacer"></span>
      <button class="quiet" @click=${() => actions.copy(request.text)}>${TEXTS.page.copy}</button>
      <button class="quiet" aria-label=${T.close} @click=${() => actions.showRequest(null)}>×</button>
    </div>
    <pre tabindex="0"><code>${request.text}</code></pre>
  </section>`;
}
