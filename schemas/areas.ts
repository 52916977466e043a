import { type Static, Type } from 'typebox'
import * as t from './common.ts'
import { MultiPolygon } from './geojson.ts'

/** How deep administrative areas go: the levels are 0, the country, to this. */
export const MAX_LEVEL = 3

/** The levels below the country. */
export const LEVELS_BELOW = Array.from({ length: MAX_LEVEL }, (_, index) => index + 1)

/** What `GET /admin` is taken to ask for where it says nothing. */
export const ADMIN_DEFAULTS = { geometry: 'none', limit: 1000 } as const

export const AdminQuery = Type.Object({
  admin0: t.text(100, 'The country: a code or a name, in any case, with or without accents.', 'Rwanda'),
  level: Type.Integer({
    minimum: 1,
    maximum: MAX_LEVEL,
    description: `How far down: 1 for regions, provinces or counties, then ${LEVELS_BELOW.slice(1).join(' and ')}.`,
    examples: [1],
  }),
  parent: t.filter('Only areas within this one: the code of an area of any level above.'),
  geometry: t.withDefault(
    t.oneOf(
      ['none', 'simplified', 'full'],
      'The shapes of the areas: none, simplified for maps (neighbours may not touch exactly), or full. A page of full shapes may end early.',
    ),
    ADMIN_DEFAULTS.geometry,
  ),
  format: t.withDefault(
    t.oneOf(
      ['json', 'geojson'],
      'The format: a list, or a GeoJSON FeatureCollection, as with `Accept: application/geo+json`.',
    ),
    'json',
  ),
  limit: t.pageLimit(5000, ADMIN_DEFAULTS.limit, 'The most areas to answer with.'),
  cursor: t.Cursor,
})

export function areaLevel(description: string, ...examples: number[]) {
  return Type.Integer({
    minimum: 0,
    maximum: MAX_LEVEL,
    description,
    ...(examples.length > 0 && { examples }),
  })
}

export const Level = areaLevel('0 is the country.', 1)

export const AdminReference = t.component('AdminReference', 'An administrative area by its name.', {
  level: Level,
  code: t.string('The stable code of the area, for requests.', 'RWA-02'),
  name: Type.String({ examples: ['Southern Province'] }),
})
export type AdminReference = Static<typeof AdminReference>

export const AdvisedArea = t.component('AdvisedArea', 'The administrative area that was asked about.', {
  country_code: Type.String({ examples: ['eth'] }),
  level: Level,
  code: AdminReference.properties.code,
  name: AdminReference.properties.name,
})
export type AdvisedArea = Static<typeof AdvisedArea>

const Bbox = t.extent([29.02, -2.84, 30.9, -1.05])

export const Centroid = t.object('The centre of mass, which may lie outside of a bent area.', {
  lat: Type.Number(),
  lng: Type.Number(),
})

const AreaKm2 = t.number('Square kilometres.', 5963)

// Not checked when it is written: shapes are large, and the database has made them.
const Geometry = Type.Unsafe<object>(
  t.documentedAs(Type.Object({}, { additionalProperties: true }), t.ref(MultiPolygon)),
)

export const AdminArea = t.component('AdminArea', {
  code: t.string('The stable code of the area, for requests.'),
  name: Type.String(),
  level: Level,
  country_code: Type.String(),
  parents: t.array(AdminReference, 'The areas it lies in, from the country down to the one right above.'),
  area_km2: AreaKm2,
  bbox: Bbox,
  centroid: Centroid,
  geometry: Type.Optional(Geometry),
})
export type AdminArea = Static<typeof AdminArea>

const EXAMPLE_AREA = {
  code: 'RWA-01',
  name: 'City of Kigali',
  level: 1,
  country_code: 'rwa',
  parents: [{ level: 0, code: 'RWA', name: 'Rwanda' }],
  area_km2: 730.21,
  bbox: [29.98, -2.08, 30.28, -1.78],
  centroid: { lat: -1.93, lng: 30.13 },
}

export const AdminAreaList = t.page(AdminArea, 'AdminAreaList', 'In the order of their codes.', {
  examples: [{ items: [EXAMPLE_AREA], next_cursor: null }],
})
export type AdminAreaList = Static<typeof AdminAreaList>

const OneLevel = (description: string) => Type.Optional(t.string(description))

/** The areas above a feature, flat: map programs show no lists. Level 0 is above all of them. */
const AREAS_ABOVE = Object.fromEntries(
  LEVELS_BELOW.slice(0, -1).flatMap((level) => {
    const description = `Where the level is ${LEVELS_BELOW.slice(level).join(' or ')}.`
    return [
      [`adm${level}_code`, OneLevel(description)],
      [`adm${level}_name`, OneLevel(description)],
    ]
  }),
)

const AdminFeature = t.component('AdminFeature', 'An administrative area as a GeoJSON Feature.', {
  type: Type.Literal('Feature'),
  id: t.string('The code.', 'RWA-02'),
  bbox: Bbox,
  geometry: t.orNull(Geometry),
  properties: Type.Object({
    code: Type.String({ examples: ['RWA-02'] }),
    name: Type.String({ examples: ['Southern Province'] }),
    level: Level,
    country_code: Type.String({ examples: ['rwa'] }),
    area_km2: AreaKm2,
    centroid_lat: Type.Number({ examples: [-2.34] }),
    centroid_lng: Type.Number({ examples: [29.72] }),
    adm0_code: OneLevel('The areas it lies in, flat: map programs show no lists.'),
    adm0_name: OneLevel('The country.'),
    ...AREAS_ABOVE,
  }),
})

export const AdminFeatureCollection = t.component('AdminFeatureCollection', {
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(t.ref(AdminFeature)),
  next_cursor: t.NextCursor,
})
export type AdminFeatureCollection = Static<typeof AdminFeatureCollection>

/** Where a request has named a place. */
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

export const adminSchemas = [AdminReference, AdminArea, AdminAreaList, AdminFeature, AdminFeatureCollection]
