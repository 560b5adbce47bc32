/** One request of a page, and the response that the page gives for it. */
export interface Example {
  /** The request as the page writes it, and `=` with what follows the number sign. */
  readonly line: string;
  /** The part of the URL after the collection, encoded. */
  readonly path: string;
  readonly expected: Expectation;
}

type Expectation =
  /** How many documents are found, and the ids of the first of them. */
  | { readonly kind: 'found'; readonly count: number; readonly ids: readonly string[] }
  /** A value in the response, with its path of names and indexes. */
  | { readonly kind: 'member'; readonly jsonPath: readonly string[]; readonly value: unknown }
  /** A status, and a part of the message. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string };

/**
 * The requests of a page, in blocks of kind `text`: each is a line of parameters with `&` between them, and after ` # `
 * its result. Lines that begin with blanks and `#` say more about the response to the line before.
 *
 * @throws Error when a line contains nothing to check
 */
export function examplesIn(page: string): Example[] {
  return [...page.matchAll(/^```text\n(.*?)^```$/gms)].flatMap(([, block = '']) => {
    const examples: Example[] = [];
    let path = '';
    let checked = true;
    for (const line of block.split('\n').filter((one) => one !== '')) {
      const member = /^ +# (\S+) = (.+)$/.exec(line);
      const request = member ? undefined : /^(\S.*?)(?: +# (.+))?$/.exec(line);
      if (request) {
        if (!checked) throw new Error(`nothing is said about the request before ${line}`);
        path = addressOf(request[1] as string);
        checked = request[2] !== undefined;
        if (request[2] !== undefined) examples.push({ line, path, expected: expectationOf(request[2]) });
      } else if (member) {
        const [, way = '', value = ''] = member;
        checked = true;
        examples.push({ line, path, expected: { kind: 'member', jsonPath: way.split('.'), value: JSON.parse(value) } });
      }
    }
    if (!checked) throw new Error(`nothing is said about ${path}`);
    return examples;
  });
}

function addressOf(request: string): string {
  const [, endpoint = 'select', parameters = ''] = /^(?:\/(\w+)\?)?(.*)$/.exec(request) ?? [];
  const list = new URLSearchParams();
  for (const parameter of parameters.split('&')) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(parameter) ?? [];
    list.append(name, value);
  }
  return `${endpoint}?${list}`;
}

function expectationOf(text: string): Expectation {
  const refused = /^([45]\d\d): (.+)$/.exec(text);
  if (refused) return { kind: 'refused', status: Number(refused[1]), message: refused[2] as string };
  const found = /^(\d+)(?:: (.+))?$/.exec(text);
  if (!found) throw new Error(`${text} says nothing that could be checked`);
  return { kind: 'found', count: Number(found[1]), ids: found[2]?.split(', ') ?? [] };
}

/** The parts of a response that the example names, in the same form. */
export function outcomeOf({ expected }: Example, status: number, body: ResponseBody): Expectation {
  switch (expected.kind) {
    case 'refused': {
      const said = body.error?.msg ?? '';
      return { kind: 'refused', status, message: said.includes(expected.message) ? expected.message : said };
    }
    case 'member': {
      const value = expected.jsonPath.reduce<unknown>(
        (inside, name) => (inside as Record<string, unknown>)?.[name],
        body,
      );
      return { ...expected, value };
    }
    case 'found': {
      const { numFound = -1, docs = [] } = body.response ?? {};
      return { kind: 'found', count: numFound, ids: docs.slice(0, expected.ids.length).map(({ id }) => id) };
    }
  }
}

export interface ResponseBody {
  readonly error?: { readonly msg: string };
  readonly response?: { readonly numFound: number; readonly docs: readonly { readonly id: string }[] };
}

/** The code of a page below `<!-- tested: <kind> -->`. @throws Error if the page has none */
export function testedBlock(page: string, kind: string): string {
  const [, block] = new RegExp(`<!-- tested: ${kind} -->\n\`\`\`\\w+\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
  if (block === undefined) throw new Error(`the page has no block ${kind}`);
  return block;
}
