import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { PolygonsRequest } from '#schemas/polygons.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { collectBody, longJsonParser, textOf } from '#src/http/collected-body.ts'
import { queryMerger } from '#src/http/parameters.ts'
import { isUntypedJson, turnToParse } from '#src/http/plugins/body-parser.ts'
import { refuseProvenance } from '../../lookup/point-only.ts'
import { GEOJSON, isPolygonItself, polygonNoter } from '../body.ts'

const FORMS = ['application/json', GEOJSON]

export const UNSUPPORTED_FORM = `Send the body as one of ${FORMS.join(', ')}.`

/**
 * Makes a scope read the long bodies in which many polygons are sent.
 *
 * @returns how many bytes a body may have
 */
export function readLongJson(app: App): number {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const limit = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
  const parseJson = longJsonParser(app)
  const tooLarge = () =>
    new ApiError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes: send several calls.`)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    [...FORMS, '*'],
    async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      const body = await collectBody(request, stream, limit, tooLarge)
      if (body.length === 0) return undefined
      if (!isJson(request) && !isUntypedJson(request, body)) {
        throw new ApiError('UNSUPPORTED_MEDIA_TYPE', UNSUPPORTED_FORM)
      }
      await turnToParse(app, request, body)
      const text = textOf(body)
      return text.trim() === '' ? undefined : parseJson(request, text)
    },
  )
  return limit
}

function isJson({ headers }: FastifyRequest): boolean {
  return FORMS.includes(mediaTypeIn(headers['content-type']))
}

function mediaTypeIn(contentType: string | undefined): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Whether polygons were sent as GeoJSON, and not as JSON: then they are answered so as well. */
export function isSentAsGeoJson({ headers }: FastifyRequest): boolean {
  return mediaTypeIn(headers['content-type']) === GEOJSON
}

/**
 * Makes what turns a call into a request: the body has the polygons as `polygons` or is the collection of them, and
 * what it leaves out comes from the query.
 */
export function polygonsBodyReader(schema: TObject): (call: FastifyRequest, reply: FastifyReply) => void {
  const merge = queryMerger(schema)
  const note = polygonNoter(PolygonsRequest)
  return (call, reply) => {
    refuseProvenance(call)
    if (isPolygonItself(call)) call.body = { polygons: call.body }
    note(call, reply)
    merge(call)
  }
}
