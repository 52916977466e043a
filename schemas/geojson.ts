import { type TSchema, Type } from 'typebox'
import * as t from './common.ts'

// These document alone. Code reads requests and says where they are wrong: a validator would go through ten thousand
// positions to list each. The database makes the answers.

const Position = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 4,
  description: 'Longitude and latitude (WGS 84), in this order; a height is ignored.',
})

const Ring = Type.Array(Position, { minItems: 4, description: 'Closed: the last position is the first.' })

const Rings = Type.Array(Ring, { minItems: 1, description: 'The outer ring, then the holes.' })

const RING = [
  [38.5, 9.5],
  [38.62, 9.5],
  [38.6, 9.58],
  [38.5, 9.5],
]

function geometry<const Name extends string>(type: Name, coordinates: TSchema, example: unknown[]) {
  return t.component(
    type,
    `A GeoJSON ${type}.`,
    { type: Type.Literal(type), coordinates },
    { type, coordinates: example },
  )
}

export const Point = geometry('Point', Position, [38.5, 9.5])
export const Polygon = geometry('Polygon', Rings, [RING])
export const MultiPolygon = geometry('MultiPolygon', Type.Array(Rings, { minItems: 1 }), [[RING]])

export function rectangle(west: number, south: number, east: number, north: number) {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon' as const, coordinates: [ring] }
}

/** Components of GeoJSON have the names of their types: no mapping is needed. */
export function defineGeoJson(objects: TSchema[], description: string): TSchema {
  return Type.Unsafe({
    type: 'object',
    oneOf: objects.map((object) => t.ref(object)),
    discriminator: { propertyName: 'type' },
    description,
  })
}

export const Feature = t.component('Feature', 'A GeoJSON Feature of a Polygon or a MultiPolygon.', {
  type: Type.Literal('Feature'),
  geometry: defineGeoJson([Polygon, MultiPolygon], 'The shape of the Feature.'),
  properties: Type.Optional(
    Type.Unsafe<object | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Ignored, but for `name`.',
    }),
  ),
})

export const FeatureCollection = t.component(
  'FeatureCollection',
  'A GeoJSON FeatureCollection of one Feature.',
  {
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(t.ref(Feature), { minItems: 1, maxItems: 1 }),
  },
)

export const geometrySchemas = [Point, Polygon, MultiPolygon, Feature, FeatureCollection]
