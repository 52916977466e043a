import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { ErrorBody } from '#schemas/common.ts'
import { MOST_POLYGONS, PolygonLabels } from '#schemas/polygons.ts'
import { ApiError } from '#src/errors.ts'
import { validationError } from '#src/http/validation.ts'
import { isObject } from '#src/lib/collections.ts'
import { isInAnotherCrs } from '#src/lib/geojson.ts'
import { nameOf } from '../polygon/body.ts'
import { type Outline, readGeoJson } from '../polygon/geometry.ts'

/** The id of one of many polygons. */
export type PolygonId = string | number | undefined

/** One of many polygons as it was sent: what it comes to, or why it cannot be asked about. */
export interface SentPolygon {
  id: PolygonId
  name: string | undefined
  outline: Outline | ErrorBody
  /** How much of the call it is: the numbers of its outline, and one for all else. */
  size: number
}

export function sizeOf(polygons: SentPolygon[]): number {
  return polygons.reduce((sum, { size }) => sum + size, 0)
}

/**
 * The Features of a FeatureCollection as they were sent, not looked at yet.
 *
 * @throws {ApiError} where it is none, or has none or too many
 */
export function featuresOf(collection: unknown): unknown[] {
  if (!isObject(collection) || collection.type !== 'FeatureCollection') {
    throw ApiError.invalid('type', 'must be FeatureCollection')
  }
  if (isInAnotherCrs(collection)) {
    throw ApiError.invalid(
      'crs',
      'must be left out: GeoJSON coordinates are longitude and latitude in WGS 84',
    )
  }
  const { features } = collection
  if (!Array.isArray(features)) throw ApiError.invalid('features', 'must be an array')
  if (features.length === 0) throw ApiError.invalid('features', 'must not be empty')
  if (features.length <= MOST_POLYGONS) return features
  throw new ApiError(
    'TOO_MANY_POLYGONS',
    `The call has ${features.length} polygons. A call may have ${MOST_POLYGONS}: send several.`,
  )
}

/** A compiled schema: its errors are those of the last call. */
interface Validator {
  (value: unknown): unknown
  errors?: FastifySchemaValidationError[] | null
}

/** Reads one of many polygons. What is wrong with it is said of it alone, with its place in the Feature. */
export function readPolygon(call: FastifyRequest, feature: unknown): SentPolygon {
  const isLabels = call.compileValidationSchema(PolygonLabels) as Validator
  const { id = null, properties } = isObject(feature) ? feature : {}
  // What else the properties have as an id may be anything.
  const own = id ?? (isObject(properties) ? properties.id : undefined)
  const sent = {
    id: isLabels({ id: own }) ? ((own ?? undefined) as PolygonId) : undefined,
    name: nameOf(feature, call),
  }
  const refused = (error: ApiError) => ({ ...sent, outline: error.body, size: 1 })
  if (id !== null && !isLabels({ id })) return refused(validationError(isLabels.errors ?? [], { id }))
  if (!isObject(feature) || feature.type !== 'Feature')
    return refused(ApiError.invalid('type', 'must be Feature'))
  try {
    const outline = readGeoJson({ value: feature, at: '' })
    const size = outline.polygons.flat().reduce((sum, ring) => sum + ring.length, 1)
    return { ...sent, outline, size }
  } catch (error) {
    if (error instanceof ApiError) return refused(error)
    throw error
  }
}
