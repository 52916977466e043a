import type { FastifyReply, FastifyRequest } from 'fastify'
import { DHIS2 } from '#schemas/dhis2.ts'
import { ANSWER_FORMS, type PolygonsRequest } from '#schemas/polygons.ts'
import { type Form, OFFERS, FORMS as SENT_FORMS } from '#src/http/forms.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { GEOJSON } from '../body.ts'
import { isSentAsGeoJson } from './body.ts'

/** The forms in which many polygons are answered. */
export const FORMS = [...SENT_FORMS, DHIS2] as const
export type AnswerForm = Form | typeof DHIS2

/**
 * The form that an answer is to have: what the request names, else what `Accept` would rather have.
 *
 * @throws {ApiError} NOT_ACCEPTABLE where that allows none
 */
export function answerFormOf(
  call: FastifyRequest<{ Body: Pick<PolygonsRequest, 'format'> }>,
  reply: FastifyReply,
): AnswerForm {
  const { format } = call.body
  if (format !== undefined) return ANSWER_FORMS[format]
  return negotiate(call, reply, [...OFFERS[isSentAsGeoJson(call) ? GEOJSON : 'application/json'], DHIS2])
}
