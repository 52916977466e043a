import { type TObject, type TSchema, Type } from 'typebox'
import {
  FertilizerResponse,
  ForageResponse,
  HistoryId,
  IsfmResponse,
  Location,
  YieldResponse,
} from './advisory.ts'
import { ErrorBody, ref } from './common.ts'

const { error, code, details } = ErrorBody.properties

/** What a product has to say at a point, or why it has nothing. */
function sectionOf(name: string, entries: string, response: TObject): TObject {
  const { [entries]: data, forecast_period } = response.properties as Record<string, TSchema>
  return Type.Object(
    {
      release: Type.Optional(
        Type.String({ description: 'The release that answered, as in `GET /catalog`.' }),
      ),
      ...(forecast_period && { forecast_period: Type.Optional(forecast_period) }),
      [entries]: Type.Union([data as TSchema, Type.Null()], {
        description: 'Null where there is no value: see `error`.',
      }),
      error: Type.Optional(error),
      code: Type.Optional(code),
      details: Type.Optional(details),
    },
    {
      $id: `${name}Section`,
      description: `What \`POST /advisory/${name.toLowerCase()}/point\` answers, or \`error\` and \`code\` where that has no answer.`,
    },
  )
}

const YieldSection = sectionOf('Yield', 'yield_data', YieldResponse)
const FertilizerSection = sectionOf('Fertilizer', 'fertilizer_data', FertilizerResponse)
const IsfmSection = sectionOf('Isfm', 'isfm_data', IsfmResponse)
const ForageSection = sectionOf('Forage', 'forage_data', ForageResponse)

const NO_CROP = 'The crop is not available for Kenya; it has forage only.'

export const AllProductsResponse = Type.Object(
  {
    location: ref(Location),
    yield: ref(YieldSection),
    fertilizer: ref(FertilizerSection),
    isfm: ref(IsfmSection),
    forage: ref(ForageSection),
    history_id: Type.Optional(HistoryId),
  },
  {
    $id: 'EverythingResponse',
    examples: [
      {
        location: { name: 'My pasture', lat: -1, lng: 36.5, type: 'point' },
        yield: { yield_data: null, error: NO_CROP, code: 'CROP_NOT_AVAILABLE' },
        fertilizer: { fertilizer_data: null, error: NO_CROP, code: 'CROP_NOT_AVAILABLE' },
        isfm: { isfm_data: null, error: NO_CROP, code: 'CROP_NOT_AVAILABLE' },
        forage: {
          release: 'forage-ken-v1',
          forage_data: [{ forage_variety: 'Chloris gayana', suitability_score: 0.765 }],
        },
      },
    ],
  },
)

export const allProductsSchemas = [
  YieldSection,
  FertilizerSection,
  IsfmSection,
  ForageSection,
  AllProductsResponse,
]
