import { type Static, Type } from 'typebox'
import * as t from '#schemas/common.ts'
import { defineGeoJson, MultiPolygon, Polygon, rectangle } from '#schemas/geojson.ts'
import { THRESHOLD_PARAMETERS, ValueChange } from '../changes/schemas.ts'

/** Of one call. */
export const MOST_FIELDS = 100_000

/** Of one account. */
export const FIELD_QUOTA = { fields: 500_000, bytes: 250_000_000 } as const

/** Characters. */
export const FIELD_LIMITS = { id: 200, properties: 4000, refusals: 1000 } as const

/** Of a sent field. */
export const FieldId = Type.Object({ id: t.text(FIELD_LIMITS.id) })

export const CollectionParams = Type.Object({
  collection: Type.String({
    pattern: t.NAME_IN_PATH,
    description: 'The name of the collection: letters, digits and `.`, `_`, `~`, `-`, at most 100 of them.',
    examples: ['cooperative-7'],
  }),
})
export type CollectionParams = Static<typeof CollectionParams>

export const SavedField = t.text(
  301,
  'A field that you have saved with `PUT /fields/{collection}`: the collection, a slash, and the id of the field.',
  'cooperative-7/UPI-1/02/03/04/567',
)

export const SavedFields = t.text(
  100,
  'A collection of fields that you have saved with `PUT /fields/{collection}`.',
  'cooperative-7',
)

const members = {
  collection: Type.String({ examples: ['cooperative-7'] }),
  fields: t.count('How many fields it has.', 2),
  bytes: t.count('Length of their ids, shapes and properties.', 410),
  changed_at: t.Time,
}

export const FieldCollection = t.component('FieldCollection', 'A collection of fields.', members)

export const FieldCollections = t.component('FieldCollections', {
  items: t.array(FieldCollection, 'By name.'),
  fields: t.count('Fields of all collections.', 2),
  bytes: t.count('Bytes of all collections.', 410),
  most_fields: t.count('The most fields of an account.', FIELD_QUOTA.fields),
  most_bytes: t.count('The most bytes of an account.', FIELD_QUOTA.bytes),
})
export type FieldCollections = Static<typeof FieldCollections>

const RefusedField = t.component('RefusedField', 'A field that was not kept.', {
  row: Type.Integer({ minimum: 1, description: 'Its place among the sent ones, from 1.', examples: [2] }),
  id: Type.Optional(t.string('Its id, where it has a valid one.', 'UPI-1/02/03/04/567')),
  error: Type.String({
    examples: ['geometry crosses itself or another of its rings, at longitude 38.5, latitude 9.5.'],
  }),
  code: t.ErrorCode,
})
export type RefusedField = Static<typeof RefusedField>

export const KeptFields = t.component('KeptFields', 'The collection, and the fields that were not kept.', {
  ...members,
  refused: t.count('How many fields were not kept.', 1),
  refusals: t.array(RefusedField, `The first ${FIELD_LIMITS.refusals} of them.`),
})
export type KeptFields = Static<typeof KeptFields>

const SQUARE = rectangle(38.5, 9.5, 38.501, 9.501)
const EXAMPLE = {
  type: 'Feature',
  id: 'UPI-1/02/03/04/567',
  geometry: SQUARE,
  properties: { name: 'My field', farmer: 'A-17' },
}

const FieldProperties = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
  description: `Anything, at most ${FIELD_LIMITS.properties} characters as JSON. \`name\` labels the field in answers, and \`id\` is its id where the Feature has none.`,
})

const Id = t.string(
  `The id of the field: any text of at most ${FIELD_LIMITS.id} characters, such as a parcel number, or a whole number. Once in a collection.`,
  EXAMPLE.id,
)

const FieldFeature = t.component('FieldFeature', 'A field as a GeoJSON Feature.', {
  type: Type.Literal('Feature'),
  id: Id,
  geometry: defineGeoJson(
    [Polygon, MultiPolygon],
    'Longitude and latitude (WGS 84); at most 10,000 vertices.',
  ),
  properties: Type.Optional(FieldProperties),
})

export const FieldFeatures = t.component(
  'FieldFeatures',
  'The fields of a collection as GeoJSON.',
  {
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(t.ref(FieldFeature), { maxItems: MOST_FIELDS }),
  },
  { type: 'FeatureCollection', features: [EXAMPLE] },
)

export const FieldLines = t.textBody(
  'FieldLines',
  'A Feature of GeoJSON a line. Empty lines are skipped. A sequence (RFC 8142) is read as well.',
  `${JSON.stringify(EXAMPLE)}\n`,
)

export const FieldTable = t.textBody(
  'FieldTable',
  'RFC 4180, with commas, semicolons or tabs. The first line names the columns: `id` and `wkt` (or `geometry`, `geom`, `the_geom`, `shape`), a POLYGON or MULTIPOLYGON as well-known text. Other columns are properties, texts all of them; empty cells are left out, and empty rows skipped. A table of `GET` has them as JSON.',
  'id,name,wkt\r\nUPI-1/02/03/04/567,My field,"POLYGON((38.5 9.5,38.501 9.5,38.501 9.501,38.5 9.501,38.5 9.5))"\r\n',
)

const place = {
  id: Id,
  name: t.stringOrNull('The label; null where it has none.', 'My field'),
  lat: t.number('With `lng`, a point inside.', 9.5005),
  lng: t.number('With `lat`, a point inside.', 38.5005),
  area_ha: t.number('Hectares, on the WGS 84 ellipsoid.', 1.2157),
}

const KeptField = t.component('KeptField', 'A field of a collection.', {
  ...place,
  properties: FieldProperties,
})

export const KeptFieldLines = t.textBody('KeptFieldLines', 'An item of the JSON answer a line.')

export const CollectionOfFields = t.component('CollectionOfFields', 'A collection with its fields.', {
  ...members,
  items: t.array(KeptField, 'Neighbours follow each other; the order is the same at each call.'),
})

const ChangedField = t.component('ChangedField', 'A field whose advice has changed.', {
  ...place,
  changes: t.array(ValueChange, 'The values that have changed by more than the threshold.'),
  error: Type.Optional(t.string('Why a field could not be compared.')),
  code: Type.Optional(t.ErrorCode),
})

export const FieldChanges = t.component('FieldChanges', 'The fields whose advice has changed.', {
  collection: members.collection,
  release: t.string('The later release.', 'yield-eth-wheat-2026-07-v1'),
  release_before: t.string('The release of `since`.', 'yield-eth-wheat-2025-07-v1'),
  unit: t.string('Of the values, and of an absolute threshold.', 'kg/ha'),
  items: t.array(ChangedField, 'In the order of the collection; fields without a change are left out.'),
})
export type FieldChanges = Static<typeof FieldChanges>

export const FieldChangeLines = t.textBody('FieldChangeLines', 'An item of the JSON answer a line.')

export const FieldChangeTable = t.textBody(
  'FieldChangeTable',
  'A row for each change: the field, the input, the scenario and the values. RFC 4180, in UTF-8.',
  'id,name,lat,lng,area_ha,input,scenario,before,after,change,change_percent,error,code\r\nUPI-1/02/03/04/567,My field,9.5005,38.5005,1.2157,,Normal,4358,4951,593,13.6,,\r\n',
)

const format = t.choice(
  ['json', 'ndjson', 'csv', 'geojson'],
  'The format of the answer. It wins over `Accept`.',
)

export const FieldsQuery = Type.Object({ format })
export type FieldsQuery = Static<typeof FieldsQuery>

const RATES = 'synthetic-fertilizer-eth-wheat-2026-07-v1'

export const FieldChangesQuery = Type.Object({
  format,
  since: t.text(
    200,
    'The release to compare with: an earlier one of the same product, country and crop.',
    RATES,
  ),
  release: t.filter('The later release; the one that answers now when left out.', RATES),
  ...THRESHOLD_PARAMETERS,
  input: Type.Optional(t.text(200, 'The input or variety alone; all when left out.', 'Urea')),
  scenario: Type.Optional(t.text(200, 'The scenario alone; all when left out.', 'Normal')),
})
export type FieldChangesQuery = Static<typeof FieldChangesQuery>

export const fieldComponents = [
  ValueChange,
  ChangedField,
  FieldChanges,
  FieldChangeLines,
  FieldChangeTable,
  FieldCollection,
  FieldCollections,
  RefusedField,
  KeptFields,
  FieldFeature,
  FieldFeatures,
  FieldLines,
  FieldTable,
  KeptField,
  KeptFieldLines,
  CollectionOfFields,
]
