import type { Endpoint } from '@akin/contract';
import { escapeQueryText, nearestName, quote } from '@akin/domain';
import { isUnsupportedFacet } from '../solr/refused-parameters.ts';
import { isPayload, type ParameterList } from './parameters.ts';

/** Maximum number of names per request that are checked. */
const MAX_NAMES = 50;
const MAX_WARNINGS = 10;
/** Longer names and values are truncated. */
const SHOWN = 60;
/** The edits of shorter names are not counted: they are similar to too many others. */
const MIN_COMPARED = 4;

/** Characters that may change how the rest of a text is displayed. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;

/**
 * Names that other services use, and the parameters that may be meant. The first one that the endpoint has is
 * suggested.
 */
const SUGGESTIONS = new Map(
  [
    ['limit', 'rows terms.limit tagging.max'],
    ['row hitsperpage', 'rows'],
    ['size count take pagesize perpage', 'rows limit terms.limit'],
    ['rows', 'limit terms.limit tagging.max'],
    ['top k topk topn numresults maxresults', 'rows tagging.max'],
    ['max', 'tagging.max rows'],
    ['offset page', 'start cursor'],
    ['from skip', 'start'],
    ['cursormark start', 'cursor'],
    ['q filter filters filterby filterquery facetfilters where', 'fq'],
    ['query', 'q fq'],
    ['search text keyword keywords term', 'q'],
    ['fields select columns includefields attributestoretrieve', 'fl'],
    ['order orderby sortby ordering', 'sort'],
    ['facets facetby', 'facet.field'],
    ['queryby', 'df'],
    ['format', 'wt'],
    ['pretty', 'indent'],
    ['field', 'tagging.field terms.fl facet.field'],
    ['prefix', 'terms.prefix facet.prefix'],
    ['id', 'tagging.input.id rank.by.id'],
    ['url image imageurl', 'input.url tagging.input.url rank.by.url'],
    ['data file', 'input.data tagging.input.data rank.by.data'],
    ['hex', 'rank.by.hex'],
    ['words', 'rank.by.text'],
    ['outputs', 'tagging.input.preprocessed rank.by.outputs'],
    ['mode', 'rank.mode'],
    ['threshold scorethreshold minscore', 'rank.threshold tagging.threshold'],
    ['weights', 'rank.weights'],
    ['region crop roi', 'input.region tagging.input.region rank.region'],
    ['module modules', 'modules.apply'],
  ].flatMap(([names = '', meant = '']) => names.split(' ').map((name) => [name, meant.split(' ')] as const)),
);

/**
 * Parameters of Solr and of its clients that have no effect here, or that handlers read themselves: they count as
 * known. The pattern below contains families of names.
 */
const KNOWN_NAMES = new Set(
  `
  _ NOW TZ cache collection core cpuAllowed defType distrib echoHandler echoParams explainOther header indent json
  json.nl json.wrf lowercaseOperators memAllowed omitHeader logParamsList multiThreaded paramset partialResults
  preferLocal q.alt q.op qt route rq score sow segmentTerminateEarly stopwords stylesheet tie timeAllowed tr uf
  useParams version wt bf boost bq mm mm.autoRelax pf pf2 pf3 ps ps2 ps3 qf qs facet.enum.cache.minDf facet.method
  facet.sort facet.threads facet.zeros facet.range.method terms.list terms.lower terms.lower.incl terms.maxcount
  terms.mincount terms.raw terms.regex terms.regex.flag terms.stats terms.ttf terms.upper terms.upper.incl
  facet.overrequest.count facet.overrequest.ratio facet.contains.ignoreCase terms modules.apply rollback overwrite
  allowDuplicates expungeDeletes failOnVersionConflicts maxSegments min_rf overwriteCommitted overwritePending
  prepareCommit versions waitFlush _version_ _route_ shard.keys lb.proxy
  `
    .trim()
    .split(/\s+/),
);
const KNOWN_NAME_PATTERN =
  /^(clustering|debug|expand|f|fmap|group|hl|literal|mlt|shards|spellcheck|stats|stream|suggest|tv|update)(\.|$)|^(debugQuery)$/;

/** Names that an endpoint does not know, in their order, with their first values. */
export type Unknown = ReadonlyMap<string, string>;

/** Whether a name is known although no endpoint declares it: it has no effect, or is refused by name. */
export function hasNoEffect(name: string): boolean {
  return KNOWN_NAMES.has(name) || KNOWN_NAME_PATTERN.test(name) || isUnsupportedFacet(name);
}

/** Finds the parameters that neither the endpoint nor a reference by `$name` uses. */
export function findUnknown({ parameters }: Endpoint, list: ParameterList): Unknown {
  const unknown = new Map<string, string>();
  let references: Set<string> | undefined;
  for (const [name, value] of list) {
    if (Object.hasOwn(parameters.shape, name) || unknown.has(name)) continue;
    if (hasNoEffect(name)) continue;
    references ??= referencedNames(list);
    if (references.has(name)) continue;
    unknown.set(name, value);
    if (unknown.size === MAX_NAMES) break;
  }
  return unknown;
}

/**
 * Suggestions for unknown parameters, as one warning each. None for those that resemble nothing.
 *
 * @param fields the fields of the collection, if the endpoint filters by them
 */
export function explainUnknown(
  unknown: Unknown,
  { parameters }: Endpoint,
  fields?: { has(name: string): boolean },
): string[] {
  const known = Object.keys(parameters.shape).filter((name) => name !== 'collection');
  const warnings: string[] = [];
  for (const [name, value] of unknown) {
    // As PHP and JSON:API write them: filter[tenant]=a.
    const bare = fields?.has(name) ? name : name.replace(/(?<=.)(?:\[[^[\]]*\])+$/, '');
    const meant = fields?.has(bare) ? filterOf(bare, value) : likelyMeaning(bare, known, parameters.shape);
    if (meant !== undefined) {
      const warning = `Parameter ${shown(name)} is unknown here and was ignored. Did you mean ${meant}?`;
      warnings.push(warning.replace(INVISIBLE, escaped));
    }
  }
  const more = warnings.length - MAX_WARNINGS;
  return more > 0 ? [...warnings.slice(0, MAX_WARNINGS), `${more} more unknown parameters were ignored.`] : warnings;
}

function likelyMeaning(name: string, known: readonly string[], shape: object): string | undefined {
  const plain = normalizedName(name);
  const clean = normalizedName(withoutMarks(name));
  return (
    known.find((one) => [plain, clean].includes(normalizedName(one))) ??
    SUGGESTIONS.get(clean)?.find((one) => Object.hasOwn(shape, one)) ??
    nearestOf(name, known)
  );
}

/** For names with dots the last part decides, if the others are equal: `tagging.x` is not similar to `tagging.max`. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  // A letter too many or two swapped: `fqs`, `lf`. Any other short name is as similar to several.
  const short = known.find((one) => one.length > 1 && (name.slice(0, -1) === one || name === reversed(one)));
  if (name.length < MIN_COMPARED) return short;
  const compared = known.filter((one) => one.length >= MIN_COMPARED);
  const prefix = name.slice(0, name.lastIndexOf('.') + 1);
  const siblings = compared.filter((one) => one.startsWith(prefix));
  if (siblings.length === 0) return short ?? nearestName(name, compared);
  const rest = (one: string) => one.slice(prefix.length);
  const nearest = nearestName(rest(name), siblings.map(rest));
  return nearest === undefined ? short : prefix + nearest;
}

function reversed(name: string): string | undefined {
  return name.length === 2 ? `${name[1]}${name[0]}` : undefined;
}

/** A name without what URLs that were escaped twice or put together wrongly add: `amp;fq`, `?fq`, `fq%5B%5D`, `fq{0}`. */
function withoutMarks(name: string): string {
  return name.replace(/^(?:amp;|[^\p{L}\p{N}_])+/u, '').replace(/[^\p{L}\p{N}._\s-].*$/su, '');
}

/** A name in a normal form: `rank_by_id` and `rankById` are `rank.by.id`. */
function normalizedName(name: string): string {
  return name.length > SHOWN ? name : name.replace(/[._\s-]/g, '').toLowerCase();
}

function filterOf(field: string, value: string): string {
  const isShort = value !== '' && value.length <= SHOWN;
  return `fq=${shortened(escapeQueryText(field))}:${isShort ? escapeQueryText(value) : '…'}`;
}

function shown(name: string): string {
  return /^[\w.-]{1,60}$/.test(name) ? name : quote(name);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

function shortened(text: string): string {
  return text.length > 2 * SHOWN ? `${[...text].slice(0, SHOWN).join('')}…` : text;
}

/** Names that values refer to by `$name`. */
export function referencedNames(list: ParameterList): Set<string> {
  const texts = list.filter(([name, value]) => !isPayload(name) && value.includes('$')).map(([, value]) => value);
  return new Set(texts.flatMap((text) => [...text.matchAll(/\$([^\s{}()'",$]+)/g)].map(([, name = '']) => name)));
}
