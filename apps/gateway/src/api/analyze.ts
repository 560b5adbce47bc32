import { badRequest, formatThumbnail } from '@akin/domain';
import { parseModulesApply } from '@akin/modules/manifests';
import { hasSeveralPictures } from '../http/pictures.ts';
import type { HandlerFor } from '../http/serve.ts';
import { analyzePicture, analyzeText } from '../search/analyze-picture.ts';
import { analysisFor } from '../search/content-model.ts';
import { readRegion } from '../search/rank-inputs.ts';

/** A model as outputs name it. */
const MODEL = /^[\w.:@/-]{1,200}$/;

export const analyze: HandlerFor<'analyze'> = async (call, context) => {
  const { 'input.url': url, 'input.data': data, 'input.text': text } = call.parameters;
  const { 'modules.apply': apply, thumbnail: wanted, 'input.name': name } = call.parameters;
  const region = readRegion(call.parameters['input.region'], 'input.region');
  if (call.parameters.model !== undefined && !MODEL.test(call.parameters.model)) {
    throw badRequest(
      'model is the name of a model as outputs give it, such as akin-4:74d3b08d: 1 to 200 letters, digits and . : @ / _ -',
    );
  }
  // Processes that only analyze have no collections.
  const own = context.store && (await analysisFor(context.store, call.parameters.collection));
  const { model = own?.model } = call.parameters;
  const modules = parseModulesApply(apply ?? own?.modules?.join());
  if (text !== undefined && url === undefined && data === undefined) {
    if (region) throw badRequest('input.region is a part of a picture: words have none.');
    const { outputs, warnings } = await analyzeText(text, 'input.text', model, call.signal, context);
    return { warnings, body: { outputs } };
  }
  const several = hasSeveralPictures('input.data', call.list, context.files);
  if (text !== undefined || (url === undefined) === (data === undefined) || several) {
    throw badRequest('Give one picture: input.url with its URL, or input.data with its bytes as base64, or a file.');
  }
  const [input, parameter] = url === undefined ? [{ data: data as string }, 'input.data'] : [{ url }, 'input.url'];
  const facts = call.parameters.fields ? { name } : undefined;
  const options = { thumbnail: wanted, facts, model, region, soughtPoints: call.parameters['parts.sought'] };
  const { outputs, thumbnail, fields } = await analyzePicture(input, parameter, modules, call.signal, context, options);
  return { body: { outputs, thumbnail: thumbnail && formatThumbnail(thumbnail), fields: facts && fields } };
};
