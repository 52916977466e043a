import { type TObject, type TProperties, Type } from 'typebox'

const OptionalText = Type.Optional(Type.String())
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
const Row = Type.Array(Type.Unknown())

/** Members that vary. */
const Anything = { additionalProperties: true }

/** The origin of the data, in every answer. */
const Sources = Type.Array(Type.Object({}, Anything))

const LeftOut = Type.Optional(Type.Integer())

const Release: TProperties = {
  release: OptionalText,
  forecast_month: OptionalText,
  synthetic: Type.Optional(Type.Boolean()),
  stale: Type.Optional(Type.Boolean()),
}

const Why: TProperties = {
  code: OptionalText,
  error: OptionalText,
}

const Areas = Type.Array(
  Type.Object({ level: Type.Integer(), code: Type.String(), name: Type.String() }, Anything),
)

const Nearest = Type.Optional(Type.Object({}, Anything))

const answered = (properties: TProperties) => Type.Object({ ...properties, left_out: LeftOut })

const WhereIsOutput = answered({
  country_code: Type.Optional(TextOrNull),
  country: Type.Optional(TextOrNull),
  areas: Areas,
  did_you_mean: Type.Optional(Type.Array(Type.Object({}, Anything))),
  crop: Type.Optional(TextOrNull),
  available: Type.Optional(Type.Object({}, { ...Anything, description: 'By product: true, or why not.' })),
  nearest: Nearest,
  hint: OptionalText,
  sources: Sources,
})

const PointOutput = answered({
  lat: Type.Number(),
  lng: Type.Number(),
  country_code: Type.String(),
  crop: Type.Optional(TextOrNull),
  products: Type.Array(
    Type.Object({
      product: Type.String(),
      unit: OptionalText,
      values: Type.Optional(
        Type.Object(
          {},
          {
            ...Anything,
            description: 'By input or species, if any, then by scenario. 0 is a value.',
          },
        ),
      ),
      ...Release,
      ...Why,
    }),
  ),
  sources: Sources,
})

const AreaOutput = answered({
  location: Type.Object({ lat: Type.Number(), lng: Type.Number(), area_ha: Type.Number() }, Anything),
  product: Type.String(),
  unit: Type.String(),
  ...Release,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Row),
  sources: Sources,
})

const QuantitiesOutput = answered({
  lat: Type.Number(),
  lng: Type.Number(),
  country_code: Type.String(),
  crop: Type.Optional(TextOrNull),
  area_ha: Type.Number(),
  currency: OptionalText,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Row),
  costs: Type.Optional(Type.Array(Row)),
  synthetic: Type.Optional(Type.Boolean()),
  sources: Sources,
})

const CatalogueOutput = answered({
  countries: Type.Array(
    Type.Object({
      country_code: Type.String(),
      name: Type.String(),
      crops: Type.Array(Type.String()),
      published: Type.Array(Type.String()),
    }),
  ),
  products: Type.Array(Type.Object({ product: Type.String(), title: Type.String(), unit: Type.String() })),
  sources: Sources,
})

const ReleasesOutput = answered({
  releases: Type.Array(
    Type.Object({
      ...Release,
      product: Type.String(),
      country_code: Type.String(),
      crop: TextOrNull,
      inputs: Type.Array(Type.String()),
      scenarios: Type.Array(Type.String()),
    }),
  ),
  sources: Sources,
})

const ExplainOutput = answered({
  country_code: TextOrNull,
  crop: TextOrNull,
  available: Type.Array(Type.Object({ product: Type.String(), release: Type.String() })),
  reasons: Type.Array(
    Type.Object({
      products: Type.Array(Type.String()),
      code: Type.String(),
      error: Type.String(),
      mend: OptionalText,
    }),
  ),
  nearest: Nearest,
  hint: OptionalText,
  sources: Sources,
})

/** Answers of the tools by name, as docs/guide/agents.md and the descriptions promise. */
export const AGENT_ANSWERS: Record<string, TObject> = {
  where_is: WhereIsOutput,
  advise_point: PointOutput,
  advise_area: AreaOutput,
  quantities: QuantitiesOutput,
  catalogue: CatalogueOutput,
  releases: ReleasesOutput,
  explain_no_data: ExplainOutput,
}
