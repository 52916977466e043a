import { type Static, type TObject, Type } from 'typebox'
import { areaLevel, Centroid, Level } from '#schemas/areas.ts'
import * as t from '#schemas/common.ts'
import {
  type AnswerOptions,
  memberNames,
  type TextFormat,
  toQuerySchema,
  withFormat,
} from '#schemas/point-request.ts'
import { QuantityFields } from '#schemas/quantities.ts'

/** A name may mean so many areas for people to choose among them. */
export const MOST_FOUND = 8

export const PlacesQuery = Type.Object({
  name: t.text(
    200,
    'A code or a name, or the beginning or another part of it, without regard to case, accents and hyphens; behind it may stand areas that it lies in.',
    'Fiche, Oromia',
  ),
  country_code: t.filter(`Only areas of this country: one of ${t.COUNTRY_CODES}.`),
  level: Type.Optional(areaLevel('Only areas of this level.')),
  limit: t.withDefault(
    Type.Integer({
      minimum: 1,
      maximum: MOST_FOUND,
      description: 'The most areas to answer with.',
      examples: [5],
    }),
    MOST_FOUND,
  ),
})

const FoundArea = t.component('FoundArea', 'An administrative area that a name may mean.', {
  country_code: Type.String(),
  level: Level,
  code: t.string('The stable code of the area, for requests.'),
  name: Type.String(),
  parent: t.stringOrNull('The name of the area right above; null for a country.'),
  ...Centroid.properties,
})

export const FoundAreas = t.component(
  'FoundAreas',
  {
    items: t.array(
      FoundArea,
      'The best first: whole names, beginnings, parts; then larger areas before smaller ones.',
    ),
    is_near: t.boolean('Whether no name has the text, and these differ from it by a typing error.'),
    position: t.orNull(
      Type.Object(Centroid.properties),
      'Of coordinates or an Open Location Code; null for a name.',
    ),
  },
  {
    items: [
      {
        country_code: 'eth',
        level: 3,
        code: 'ETH-09-12-01',
        name: 'Fiche',
        parent: 'North Shewa (Oromia)',
        lat: 9.8,
        lng: 38.73,
      },
    ],
    is_near: false,
    position: null,
  },
)
export type FoundAreas = Static<typeof FoundAreas>

export const searchSchemas = [FoundArea, FoundAreas]

const PlaceName = t.text(
  200,
  'An area by code or name (`Fiche, Oromia`), a position (`9.5 38.5`), or your field (`collection/id`).',
  'Amhara',
)

/** The parameters that the document lists for places: what it says of quantities and pixels of a point counts there too. */
export function documentPlaceQuery(query: TObject, options: AnswerOptions): TObject {
  const left = [...memberNames(options, 'pixels'), ...Object.keys(QuantityFields)]
  const listed = Object.entries(toQuerySchema(query).properties).filter(([name]) => !left.includes(name))
  return Type.Object(Object.fromEntries(listed))
}

/** The query of the operations for places. @param request the request for a point */
export function definePlaceQuery(
  request: TObject,
  own: readonly string[],
  formats: readonly TextFormat[],
): TObject {
  const { lat: _, lng: __, ...members } = request.properties
  const level = Type.Optional(areaLevel('The level of the area, 0 for the country.', 1))
  return withFormat(Type.Object({ place: PlaceName, level, ...members }), own, formats)
}
