import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import { findLimit, findLimits } from '#src/accounts/user-queries.ts'
import { GEOJSON_TYPE, JSON_TYPE, mediaTypeOfBody } from '#src/advice/bodies.ts'
import { writeFeature } from '#src/advice/columns.ts'
import { createOutline, type Outline, writeGeoJson, writeWkt } from '#src/advice/polygon/geometry.ts'
import type { ManyOptions } from '#src/advice/polygons/answer.ts'
import { ApiError, overloaded, requireFound } from '#src/errors.ts'
import { type App, answers, errorResponses, noContent } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import {
  attach,
  CSV,
  csvRow,
  documentFile,
  FORMATS,
  type Items,
  negotiateFormat,
  sendPieces,
  writeItems,
} from '#src/http/formats.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { readQuery } from '#src/http/parameters.ts'
import { declaredCharset } from '#src/http/plugins/body-parser.ts'
import { createPause, startDeadline } from '#src/http/plugins/time-budget.ts'
import { openText } from '#src/lib/json.ts'
import { createLimiter, type Pause } from '#src/lib/limiter.ts'
import { roundAmount, roundDegrees } from '#src/lib/round.ts'
import { decodeMultiPolygon } from '#src/raster/tiles.ts'
import type { Core } from '../extension.ts'
import { adviceRoute } from './advice.ts'
import { changesRoute } from './changes.ts'
import { keepFields } from './keeping.ts'
import { readWhole } from './pages.ts'
import {
  type CollectionRow,
  deleteCollection,
  type FieldCursor,
  listCollections,
  listFields,
  type StoredField,
} from './queries.ts'
import { decodeTexts, FEATURE_READERS, TABLE_COLUMNS, toPropertiesCell } from './reading.ts'
import { type CollectionRequest, OWN_FIELDS, requireCollection } from './saved.ts'
import {
  CollectionOfFields,
  CollectionParams,
  FIELD_QUOTA,
  FieldCollections,
  FieldFeatures,
  FieldLines,
  FieldsQuery,
  FieldTable,
  fieldComponents,
  KeptFieldLines,
  KeptFields,
  MOST_FIELDS,
} from './schemas.ts'

const described = { tags: ['fields'], params: CollectionParams }

/**
 * Uploads that are read at a time: each holds up to 3 MB, a piece of its fields and a part of the next one. Each piece
 * waits for a permit of the database, so that a slow upload delays no other.
 */
const UPLOADS = { running: 128, runningEach: 1, runningEachNetwork: 64, waiting: 128 }

export async function fieldRoutes(app: App, core: Core): Promise<void> {
  const options = { ...core, ...core.schemas.many }
  const db = app.database.writer
  for (const schema of fieldComponents) app.addSchema(schema)
  await app.register(uploads, options)
  adviceRoute(app, options)
  changesRoute(app, options)

  app.route({
    method: 'GET',
    url: '/fields',
    config: OWN_FIELDS,
    schema: {
      operationId: 'listFieldCollections',
      summary: 'List your collections of fields',
      description: 'The collections of the caller by name, and how much an account may keep.',
      tags: ['fields'],
      response: answers(FieldCollections, 'The collections.'),
    },
    handler: async (request) => {
      const items = (await listCollections(db, requireCaller(request).id)).map(describe)
      const sum = (key: 'fields' | 'bytes') => items.reduce((total, item) => total + item[key], 0)
      return {
        items,
        fields: sum('fields'),
        bytes: sum('bytes'),
        most_fields: FIELD_QUOTA.fields,
        most_bytes: FIELD_QUOTA.bytes,
      }
    },
  })

  app.route({
    method: 'GET',
    url: '/fields/:collection',
    config: { ...OWN_FIELDS, takesOwnPermit: true },
    schema: {
      operationId: 'getFields',
      summary: 'Get a collection of fields',
      description:
        'All fields of a collection, as JSON, NDJSON, CSV or GeoJSON, which has their shapes and can be sent to `PUT` again; CSV has shapes as well-known text. An answer is whole when its transfer ends properly.',
      ...described,
      querystring: toQuerySchema(FieldsQuery),
      response: {
        200: documentFile('The fields.', FORMATS, {
          json: ref(CollectionOfFields),
          ndjson: ref(KeptFieldLines),
          csv: ref(FieldTable),
          geojson: ref(FieldFeatures),
        }),
        ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND', 'NOT_ACCEPTABLE'),
      },
    },
    preValidation: readQuery(FieldsQuery),
    handler: async (request: CollectionRequest<FieldsQuery>, reply: FastifyReply) => {
      const format = negotiateFormat(request.exchange, FORMATS, { named: request.query.format })
      const { collection: name } = request.params
      const row = await requireCollection(request.exchange, name)
      const pause = createPause(request.exchange)
      const read = (last: FieldCursor, limit: number) =>
        request.server.goOnWithPermit(request.exchange, () => listFields(db, row.id, last, limit))
      const write = format === CSV ? writeWkt : format.hasShapes ? writeGeoJson : undefined
      const written = writeShapes(readWhole(row, read), write, pause)
      reply.type(format.contentType)
      attach(reply, format.mediaType, 'fields')
      const pieces = writeItems(format.write(createItems(row)), written, { pieceLength: PIECE_LENGTH })
      return sendPieces(reply, [], pieces)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/fields/:collection',
    config: OWN_FIELDS,
    schema: {
      operationId: 'deleteFields',
      summary: 'Delete a collection of fields',
      description: 'The collection is gone at once; answers that have begun may end early.',
      ...described,
      response: noContent('The collection is deleted.', 'INVALID_PARAMETERS', 'NOT_FOUND'),
    },
    handler: async (request: CollectionRequest, reply: FastifyReply) => {
      const isDeleted = await deleteCollection(db, requireCaller(request).id, request.params.collection)
      requireFound(isDeleted, 'You have no collection of fields with this name.')
      app.jobs.wake('remove-fields')
      return reply.code(204).send()
    },
  })
}

/** Uploads are read as they arrive: no parser of bodies collects them. */
async function uploads(app: App, { advisors }: Pick<ManyOptions, 'advisors'>): Promise<void> {
  const { SLOW_CLIENT_MS } = app.config
  const limiter = createLimiter(UPLOADS, overloaded)
  observeQueue(app.metrics, 'fields', limiter.state)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: FastifyRequest, stream: NodeJS.ReadableStream) => stream)

  app.route({
    method: 'PUT',
    url: '/fields/:collection',
    bodyLimit: FIELD_QUOTA.bytes,
    config: { ...OWN_FIELDS, takesOwnPermit: true },
    schema: {
      operationId: 'putFields',
      summary: 'Keep a collection of fields',
      description: `Replaces the collection, or makes it. Send up to ${MOST_FIELDS} fields as a GeoJSON FeatureCollection, as Features a line (NDJSON), or as CSV with well-known text, each with an id of your own; polygons must be valid, as for \`POST /advisory/{product}\`.

A field that is not valid, or has the id of one before it, is told with its reason; the others are kept. A call that fails or is cut off changes nothing. Fields go with the account. It has one upload at a time, and twice its quota of disk with replaced fields; 503 says when to send again.`,
      ...described,
      body: Type.Unknown(),
      bodyForms: {
        [GEOJSON_TYPE]: ref(FieldFeatures),
        [JSON_TYPE]: ref(FieldFeatures),
        'application/x-ndjson': ref(FieldLines),
        'application/geo+json-seq': ref(FieldLines),
        'text/csv': ref(FieldTable),
      },
      response: answers(
        KeptFields,
        'The collection, and the fields that were not kept.',
        'INVALID_PARAMETERS',
        'MALFORMED_JSON',
        'MALFORMED_BODY',
        findLimit('TOO_MANY_FIELDS', app.config).code,
        ...findLimits('field_collection', app.config).codes,
        'BODY_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
      ),
    },
    handler: async (request: CollectionRequest, reply: FastifyReply) => {
      const read = FEATURE_READERS[mediaTypeOfBody(request)]
      if (!read) {
        const types = Object.keys(FEATURE_READERS).join(', ')
        throw new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the body as one of ${types}.`)
      }
      const keeping = { request, advisors }
      const waiting = startDeadline(reply, SLOW_CLIENT_MS, overloaded)
      let leave = () => {}
      try {
        leave = await limiter.enter(request.exchange.clientKey, waiting.signal).finally(waiting.end)
        const body = request.body as AsyncIterable<Buffer>
        const features = read(decodeTexts(body, FIELD_QUOTA.bytes, declaredCharset(request)))
        const { row, ...refused } = await keepFields(keeping, request.params.collection, features)
        return { ...describe(row), ...refused }
      } catch (error) {
        // Nothing reads the rest, and browsers send all of it before they read an answer.
        if (!request.raw.complete) reply.header('connection', 'close')
        throw error
      } finally {
        leave()
      }
    },
  })
}

function describe({ id: _, ...row }: CollectionRow) {
  return row
}

/** Characters of a piece of an answer, which one field may exceed. */
const PIECE_LENGTH = 16_384

interface WrittenField extends Omit<StoredField, 'shape'> {
  /** Its shape in the notation of the format; empty for a format without shapes. */
  shape: string
}

/** Fields with their shapes written, one at a time: others wait for a part of a long one. */
async function* writeShapes(
  pages: AsyncIterable<StoredField[]>,
  write: ((outline: Outline, pause: Pause) => Promise<string>) | undefined,
  pause: Pause,
): AsyncGenerator<WrittenField[]> {
  for await (const page of pages) {
    for (const { shape, ...field } of page) {
      await pause()
      const written = write && shape ? await write(createOutline(decodeMultiPolygon(shape)), pause) : ''
      yield [{ ...field, shape: written }]
    }
  }
}

function createItems(row: CollectionRow): Items<WrittenField> {
  const place = ({ latitude, longitude, areaHa }: WrittenField) => ({
    lat: roundDegrees(latitude),
    lng: roundDegrees(longitude),
    area_ha: roundAmount(areaHa),
  })
  return {
    members: describe(row),
    columns: TABLE_COLUMNS,
    // A parser would round numbers of their properties.
    object: (field) => {
      const { id, name, properties } = field
      return `${openText(JSON.stringify({ id, name, ...place(field) }))},"properties":${properties}}`
    },
    feature: ({ id, properties, shape }) => writeFeature(id, shape, properties ?? 'null'),
    rows(field) {
      const { id, name, shape, properties } = field
      return csvRow([id, name, ...Object.values(place(field)), shape, toPropertiesCell(properties)])
    },
  }
}
