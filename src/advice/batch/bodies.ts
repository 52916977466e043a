import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import {
  collectBody,
  decodeBody,
  isUntypedJson,
  longJsonParser,
  waitToParse,
} from '#src/http/plugins/body-parser.ts'
import { isObject } from '#src/lib/collections.ts'
import { isInAnotherCrs } from '#src/lib/geojson.ts'

export const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'

/** Reads the text of a body, which is not blank. */
type ReadText = (text: string, parseJson: (text: string) => unknown) => unknown

interface BodyFormats {
  /** By media types; a body without a type may be JSON. */
  readers: Readonly<Record<string, ReadText>>
  /** The most bytes of a body. */
  limit(request: FastifyRequest): number
  /** The error for a body of more bytes. */
  tooLarge(request: FastifyRequest, bytes: number): Error
}

/** Makes a scope read long bodies. The limit depends on the caller, so Fastify does not collect them. */
export function readLongBodies(app: App, { readers, limit, tooLarge }: BodyFormats): void {
  const mediaTypes = Object.keys(readers)
  const unsupported = `Send the body as one of ${mediaTypes.join(', ')}.`
  const parseJson = longJsonParser(app)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    [...mediaTypes, '*'],
    async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      const refuse = (bytes: number) => tooLarge(request, bytes)
      const body = await collectBody(request, stream, limit(request), refuse)
      if (body.length === 0) return undefined
      const read =
        readers[mediaTypeOfBody(request)] ?? (isUntypedJson(request, body) ? readers[JSON_TYPE] : undefined)
      if (!read) throw new ApiError('UNSUPPORTED_MEDIA_TYPE', unsupported)
      await waitToParse(app, request, body)
      const text = decodeBody(body)
      return text.trim() === '' ? undefined : read(text, (json) => parseJson(request, json))
    },
  )
}

export function mediaTypeOfBody({ headers }: FastifyRequest): string {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
}

/**
 * A FeatureCollection in longitude and latitude; its Features are unchecked.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function readCollection(value: unknown): Record<string, unknown> {
  if (!isObject(value) || value.type !== 'FeatureCollection') {
    throw ApiError.invalid('type', 'must be FeatureCollection')
  }
  if (isInAnotherCrs(value)) {
    throw ApiError.invalid(
      'crs',
      'must be left out: GeoJSON coordinates are longitude and latitude in WGS 84',
    )
  }
  return value
}

/** A compiled schema: its errors are those of the last call. */
export interface Validator {
  (value: unknown): unknown
  errors?: FastifySchemaValidationError[] | null
}
