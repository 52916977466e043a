import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { AnsweredPlace, PlaceMember } from './areas.ts'
import {
  COMPANION_ROLES,
  certaintyComponents,
  certaintyOfAnswer,
  certaintyOfEntry,
  conditionOfEntry,
  defineExpected,
} from './certainty.ts'
import * as t from './common.ts'
import { SCENARIOS } from './glossary.ts'
import {
  type AnswerOptions,
  answeredMembers,
  type MemberSchemas,
  memberNames,
  NOTHING_ADDED,
} from './point-request.ts'
import {
  componentOf,
  describeRequest,
  examplePlaceOf,
  ofSeasonless,
  type ProductContract,
} from './product.ts'
import {
  chooseMembers,
  quantitiesOfAnswer,
  quantityComponents,
  quantityOfEntry,
  takesAll,
} from './quantities.ts'
import { exampleMembers, releaseMembers } from './release.ts'

const ProvenanceLayer = t.component('ProvenanceLayer', 'A layer that has a value in a pixel.', {
  layer: Type.Integer({
    minimum: 1,
    description: 'Its number, as in `GET /releases/{release}/layers`.',
    examples: [2],
  }),
  input: t.stringOrNull('The input or species; null where the product has none.', null),
  scenario: Type.Union([Type.String(), Type.Null()], { examples: ['Normal'] }),
  ...conditionOfEntry,
  role: t.choice(COMPANION_ROLES, 'Of a band about layers.'),
  raw: t.number(
    'The number that is stored of the pixel, unrounded. The value is `raw` * `scale` + `offset`, rounded.',
    4229,
  ),
  scale: Type.Number({ examples: [1] }),
  offset: Type.Number({ examples: [0] }),
})

const ProvenancePixel = t.component('ProvenancePixel', 'The pixel of a grid that the point lies in.', {
  srid: t.integer('EPSG code of the CRS of the grid.', 4326),
  column: t.count('Counted from 0, at the left.', 550),
  row: t.count('Counted from 0, at the top.', 540),
  centre: t.object('The middle of the pixel.', {
    x: t.number('In the CRS of the grid.', 38.505),
    y: t.number('In the CRS of the grid.', 9.495),
    lng: t.Longitude,
    lat: t.Latitude,
  }),
  size: Type.Object({
    x: t.number('Its width, in the unit of the CRS.', 0.01),
    y: t.number('Its height.', 0.01),
    unit: Type.String({ examples: ['degree'] }),
  }),
  layers: Type.Array(t.ref(ProvenanceLayer)),
})

export const Provenance = t.component(
  'Provenance',
  'Which pixels of a release were read for an answer, and whose they are.',
  {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    source: t.string('The maker of its values.', 'Ministry of Agriculture, agronomy model 4.2'),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    checksum: t.string(
      'SHA-256 of the definitions of its layers and of the files that it was loaded from.',
      '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    ),
    pixels: t.array(ProvenancePixel, 'One for each grid that has a value at the point.'),
  },
)
export type Provenance = Static<typeof Provenance>

export const ProvenanceMember = t.array(
  Provenance,
  'One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`.',
)

export const provenanceSchemas: MemberSchemas = {
  name: 'provenance',
  of: 'pixels',
  field: t.boolean(
    'Whether the answer has the pixels and sources of its values (`provenance`), as with `Prefer: return=provenance`.',
  ),
  schema: ProvenanceMember,
  components: [ProvenanceLayer, ProvenancePixel, Provenance],
}

export const Location = t.component('Location', {
  name: t.string('The label of the request.', 'My field'),
  lat: Type.Number({ examples: [9.5] }),
  lng: Type.Number({ examples: [38.5] }),
  type: t.oneOf(['point', 'polygon'], 'The kind of place.'),
})

const Scenario = t.string(
  `How the season turns out:\n\n${SCENARIOS.map(
    ({ scenario, description }) => `- \`${scenario}\`: ${description}`,
  ).join('\n')}\n\nOr another by its name, as published by the source.`,
  'Above Normal',
  'Normal',
  'Below Normal',
  'Dominant',
)

/** What feedback is given to; see `schemas/history.ts`. */
export const HistoryId = Type.String({
  format: 'uuid',
  description: 'The id of this answer in the history of the caller. For callers with a valid token.',
})

export type PointSchemas<Product extends ProductContract = ProductContract> = ReturnType<
  typeof definePointSchemas<Product>
>

export function definePointSchemas<Product extends ProductContract>(
  product: Product,
  options: AnswerOptions = NOTHING_ADDED,
) {
  const entry = defineEntry(product)
  const expected = defineExpected(product)
  const response = defineResponse(product, entry, expected, options)
  const request = defineRequest(product, options.request)
  return { product, options, request, entry, expected, response }
}

function defineRequest(product: ProductContract, all: TObject): TObject {
  if (takesAll(product)) return all
  const { lat, lng, country_code, name } = examplePlaceOf(product)
  return t.component(
    `${componentOf(product)}PointRequest`,
    `A point. ${describeRequest(product)}, and named in \`ignored\` where no other product has them.`,
    chooseMembers(product, all.properties),
    { lat, lng, country_code, name },
  )
}

function defineEntry(product: ProductContract): TObject {
  const { input, seasonal, value } = product
  return Type.Object(
    {
      ...(input && { [input.key]: t.string(input.description) }),
      ...(seasonal && { scenario: Scenario }),
      ...conditionOfEntry,
      [value.key]: value.schema,
      ...certaintyOfEntry(product),
      ...quantityOfEntry(product),
    },
    { $id: `${componentOf(product)}Entry`, examples: product.examples.point.slice(0, 1) },
  )
}

function defineResponse(
  product: ProductContract,
  entry: TObject,
  expected: TObject,
  options: AnswerOptions,
): TObject {
  const { entries, examples } = product
  const { name, lat, lng } = examplePlaceOf(product)
  return t.component(
    `${componentOf(product)}Response`,
    {
      location: t.ref(Location),
      ...releaseMembers(product),
      [entries]: Type.Array(t.ref(entry)),
      ...certaintyOfAnswer(product, expected),
      ...answeredMembers(options, 'pixels', 'products'),
      ...quantitiesOfAnswer(product),
      place: PlaceMember,
      history_id: Type.Optional(HistoryId),
      ignored: t.Ignored,
    },
    {
      location: { name, lat, lng, type: 'point' },
      ...exampleMembers(product),
      [entries]: examples.point,
      ...examples.behindPoint,
    },
  )
}

const { error, code, details } = t.ErrorBody.properties

const OF_WHOLE_ANSWERS = ['location', 'place', 'history_id', 'ignored']

/** The values of one of many answers, or the reason for none. */
export function dataOrReason({
  product,
  options,
  response,
}: Pick<PointSchemas, 'product' | 'options' | 'response'>): Record<string, TSchema> {
  const left = [...OF_WHOLE_ANSWERS, ...memberNames(options, 'pixels'), ...memberNames(options, 'products')]
  const data = Object.entries(response.properties).filter(([name]) => !left.includes(name))
  const members = data.map(([name, schema]) => [
    name,
    name === product.entries
      ? t.orNull(schema, 'Null where there is no value: see `error`.')
      : Type.Optional(schema),
  ])
  return {
    ...Object.fromEntries(members),
    error: Type.Optional(error),
    code: Type.Optional(code),
    details: Type.Optional(details),
  }
}

export const PointAnswerTable = t.textBody(
  'PointAnswerTable',
  'A header and one row: `name`, `lat`, `lng`, what every answer says of its release, and a column for each layer, empty where it has no value. Texts that a spreadsheet would take for a formula have an apostrophe before them.',
  'name,lat,lng,country_code,crop,forecast_period,forecast_month,release,synthetic,yield_kg_ha Normal\r\nMy field,9.5,38.5,eth,wheat,July 2026,2026-07,yield-eth-wheat-2026-07-v1,false,4229\r\n',
)

export const ReleaseHeader = t.string(
  'The release that the answer was computed from, as in `GET /catalog`; several are separated by commas. One that begins with `synthetic-` is demonstration data, made by a formula.',
)

export const HistoryHeader = Type.Enum(['full', 'service-full'], {
  description:
    'Sent where the answer is not stored, and has no `history_id`. `full`: the history holds as much as the service keeps of an account, and it is set to retain the items that are there. `service-full`: the histories of all accounts hold as much as it keeps.',
})

export function listPointComponents(
  schemas: readonly PointSchemas[],
  { request, members, formats }: AnswerOptions,
): TSchema[] {
  return [
    ...new Set([request, ...schemas.map(({ request }) => request)]),
    Location,
    t.IgnoredName,
    AnsweredPlace,
    ...members.flatMap(({ components }) => components),
    ...quantityComponents,
    ...formats.map(({ schema }) => schema),
    ...certaintyComponents,
    ...schemas.flatMap(({ entry, expected }) => [entry, expected]),
    ...schemas.map(({ response }) => response),
    PointAnswerTable,
  ]
}

function defineSection(point: PointSchemas): TObject {
  const { product } = point
  return t.component(
    `${componentOf(product)}Section`,
    `The answer of \`POST /advisory/${product.code}/point\`, or \`error\` and \`code\`. For an area or a field, values are means.`,
    { ...dataOrReason(point), ...answeredMembers(point.options, 'products') },
  )
}

/** A place in a country that offers no crop. */
const PASTURE = { name: 'My pasture', lat: -1, lng: 36.5, type: 'point' }

function createExample(products: readonly ProductContract[]): object {
  const only = ofSeasonless(products, (names) => `; it has ${names} only`)
  const reason = { error: `The crop is not available for Kenya${only}.`, code: 'CROP_NOT_AVAILABLE' }
  const sections = products.map((product) => {
    const { code, seasonal, entries, examples } = product
    const section = seasonal
      ? { [entries]: null, ...reason }
      : { ...exampleMembers(product), [entries]: examples.point }
    return [code, section]
  })
  return { location: PASTURE, country_code: 'ken', crop: null, ...Object.fromEntries(sections) }
}

/** The answer for all products in one call: a section for each, under its code. */
export function defineAllProductsSchemas(points: readonly PointSchemas[], options: AnswerOptions) {
  const products = points.map(({ product }) => product)
  const sections = points.map(defineSection)
  const { country_code, crop } = releaseMembers({ seasonal: false }) as Record<
    'country_code' | 'crop',
    TSchema
  >
  const response = t.component(
    'EverythingResponse',
    {
      location: t.ref(Location),
      country_code,
      crop,
      country_source: t.CountrySource,
      ...Object.fromEntries(sections.map((section, index) => [products[index]?.code, t.ref(section)])),
      ...answeredMembers(options, 'pixels'),
      place: PlaceMember,
      history_id: Type.Optional(HistoryId),
      ignored: t.Ignored,
    },
    createExample(products),
  )
  return { response, components: [...sections, response] }
}

/** The reason of a product without a release among the named ones. */
export function unnamedReason({ names }: ProductContract) {
  return { error: `The request names releases, and none of ${names.values}.`, code: 'NO_RELEASE' } as const
}
