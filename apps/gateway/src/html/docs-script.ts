/**
 * The script of the description of the interface: it finds an endpoint, and tries it. It is inline, and the policy of
 * the page allows it by its hash. It loads nothing and stores nothing.
 */
export const DOCS_SCRIPT = `
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
for (const code of all('.example code')) code.textContent = code.textContent.replaceAll('http://127.0.0.1:8983', location.origin);

const search = document.querySelector('#find');
search.parentElement.hidden = false;
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const section of all('main section')) {
    const text = section.textContent.toLowerCase();
    const found = words.every((word) => text.includes(word));
    section.hidden = !found;
    document.querySelector('nav a[href="#' + section.id + '"]').parentElement.hidden = !found;
  }
  for (const group of all('nav .group')) group.hidden = !all('li', group).some((one) => !one.hidden);
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  search.focus();
});

const label = (text, input) => {
  const line = document.createElement('label');
  line.append(text, input);
  return line;
};
const input = (name, value, type = 'text') => Object.assign(document.createElement('input'), { name, value, type, autocomplete: 'off' });

for (const tried of all('details.try')) {
  tried.hidden = false;
  tried.addEventListener('toggle', () => tried.open && !tried.querySelector('form') && prepare(tried));
}

function prepare(tried) {
  const { path, methods, types } = tried.dataset;
  const form = document.createElement('form');
  const method = document.createElement('select');
  method.ariaLabel = 'Method';
  for (const one of methods.split(' ')) method.add(new Option(one));
  const sample = tried.parentElement.querySelector('.curl').textContent;
  const sent = new URLSearchParams(/\\?([^']*)'/.exec(sample)?.[1] ?? '');
  const inPath = [...path.matchAll(/\\{(\\w+)\\}/g)].map(([, name]) => input(name, name === 'collection' ? 'my-collection' : ''));
  const query = Object.assign(document.createElement('textarea'), { rows: 4, value: [...sent].map((pair) => pair.join('=')).join('\\n') });
  const body = Object.assign(document.createElement('textarea'), { rows: 4, value: /-d '([^]*)'$/.exec(sample)?.[1] ?? '' });
  const file = input('file', '', 'file');
  const key = input('key', '', 'password');
  const button = Object.assign(document.createElement('button'), { textContent: 'Send' });
  const output = document.createElement('output');
  form.append(method, ...inPath.map((one) => label(one.name + ' ', one)), label('Parameters, one per line, as name=value', query));
  if (types.includes('json')) form.append(label('JSON', body));
  if (types.includes('octet-stream') || types.includes('multipart')) form.append(label('Picture ', file));
  form.append(label('Key, if one is needed ', key), button, output);
  if (body.value !== '' || sample.includes('-F file')) method.value = methods.split(' ').at(-1);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const parameters = new URLSearchParams();
    for (const line of query.value.split('\\n').filter(Boolean)) {
      const [name, ...value] = line.split('=');
      parameters.append(name, value.join('='));
    }
    let to = path;
    for (const one of inPath) to = to.replace('{' + one.name + '}', encodeURIComponent(one.value));
    if (parameters.size > 0) to += '?' + parameters;
    const options = { method: method.value, headers: key.value ? { authorization: 'Bearer ' + key.value } : {} };
    if (method.value !== 'GET' && file.files.length > 0) {
      options.body = new FormData();
      options.body.append('file', file.files[0]);
      if (body.value) options.body.append('document', body.value);
    } else if (method.value !== 'GET' && body.value) {
      options.body = body.value;
      options.headers['content-type'] = 'application/json';
    }
    button.disabled = true;
    try {
      await show(output, await fetch(to, options));
    } catch (error) {
      output.textContent = 'No response: ' + error.message;
    }
    button.disabled = false;
  });
  tried.append(form);
}

const LONGEST = 100000;
async function show(output, response) {
  const type = response.headers.get('content-type') ?? '';
  const status = document.createElement('p');
  status.textContent = response.status + ' ' + type;
  if (type.startsWith('image/')) {
    const picture = Object.assign(new Image(), { src: URL.createObjectURL(await response.blob()), alt: 'The response' });
    return output.replaceChildren(status, picture);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const text = document.createElement('pre');
  text.tabIndex = 0;
  output.replaceChildren(status, text);
  // A stream goes on for ever, and an export is long.
  for (let size = 0; size < LONGEST; ) {
    const { value, done } = await reader.read();
    if (done) return;
    size += value.length;
    text.append(value);
  }
  text.append(' …');
  await reader.cancel();
}
`;
