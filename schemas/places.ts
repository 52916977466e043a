import { type TObject, Type } from 'typebox'
import { areaLevel } from './areas.ts'
import * as t from './common.ts'
import { toQuerySchema, withFormat } from './point-request.ts'
import { QuantityFields } from './quantities.ts'

const PlaceName = t.text(
  200,
  'An area by code or name (`Fiche, Oromia`), a position (`9.5 38.5`), or your field (`collection/id`).',
  'Amhara',
)

/** What the document says of quantities and pixels at a point counts for places too. */
const OF_POINTS = ['provenance', 'proof', ...Object.keys(QuantityFields)]

/** The parameters of the operations for places that the document lists. */
export function documentPlaceQuery(query: TObject): TObject {
  const listed = Object.entries(toQuerySchema(query).properties).filter(([name]) => !OF_POINTS.includes(name))
  return Type.Object(Object.fromEntries(listed))
}

/** The query of the operations for places. @param request the request for a point */
export function definePlaceQuery(
  request: TObject,
  formats: readonly string[],
  languages: readonly string[],
): TObject {
  const { lat: _, lng: __, ...members } = request.properties
  const level = Type.Optional(areaLevel('The level of the area, 0 for the country.', 1))
  return withFormat(Type.Object({ place: PlaceName, level, ...members }), formats, languages)
}

export const AnsweredPlace = t.component('AnsweredPlace', 'The place that a request has named.', {
  asked: Type.String(),
  found: t.string('The name, or coordinates.'),
  kind: t.oneOf(['area', 'position', 'field'], 'What it is.'),
  near: t.boolean('Whether it is called otherwise, as with a usual spelling.'),
  code: Type.Optional(Type.String()),
  country_code: Type.Optional(Type.String()),
  level: Type.Optional(Type.Integer()),
})

export const PlaceMember = Type.Optional(t.ref(AnsweredPlace))
