import type { TSchema } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import type { BatchSchemas } from '#schemas/batch.ts'
import {
  AnswerLines,
  BATCH_LIMITS,
  type BatchForms,
  PointCollection,
  PointLines,
  PointTable,
} from '#schemas/batch-forms.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import { BODY_ERRORS, errorResponses } from '#src/errors.ts'
import { DISPOSITION } from '#src/http/attachment.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import type { ProductDefinition } from '#src/products/define.ts'

const RULES = `
Answers up to ${BATCH_LIMITS.anonymous} points, or ${BATCH_LIMITS.withToken} with a token, in their order. Each has its values, or its own \`error\` and \`code\`. The tag \`advisory\` has the rules.`

/** What the operation of a product for many points takes and answers. */
export function documentationOf(
  { product, parameters, request, response }: BatchSchemas<ProductDefinition>,
  forms: BatchForms,
) {
  const { code, names } = product
  return {
    operationId: `${code}AtPoints`,
    summary: `${names.titleOfMany ?? names.title} at many points`,
    description: RULES.trim(),
    tags: ['advisory'],
    security: OPTIONAL_TOKEN,
    queryAlternative: asQuery(parameters),
    body: parameters,
    bodyForms: {
      'application/json': ref(request),
      'application/x-ndjson': ref(PointLines),
      'text/csv': ref(PointTable),
      'application/geo+json': ref(PointCollection),
    },
    response: {
      200: answerOf(ref(response), forms),
      ...errorsOf(product),
    },
  }
}

function errorsOf(product: ProductDefinition) {
  return errorResponses(
    'INVALID_PARAMETERS',
    'UNAUTHORIZED',
    'INSUFFICIENT_SCOPE',
    ...BODY_ERRORS,
    'MALFORMED_BODY',
    ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
    'NO_RELEASE',
    'RELEASE_GONE',
    'NOT_ACCEPTABLE',
    'TOO_MANY_POINTS',
    'UNSUPPORTED_MEDIA_TYPE',
  )
}

/** What is documented of an answer in each of its forms. */
function answerOf(json: TSchema, forms: BatchForms) {
  return {
    description: 'An answer for each point.',
    headers: { 'Advisory-Release': ReleaseHeader, 'Content-Disposition': DISPOSITION },
    content: {
      'application/json': { schema: json },
      'application/x-ndjson': { schema: ref(AnswerLines) },
      'text/csv': { schema: ref(forms.table) },
      'application/geo+json': { schema: ref(forms.collection) },
    },
  }
}
