import { PlaceInput, WhereIsInput } from '#schemas/agent-tools.ts'
import type { LocationValidation } from '#schemas/location.ts'
import type { Products } from '#schemas/products/define.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { AdviceBody, AdviceService, Asker } from './advice-service.ts'
import { mendingOf } from './failures.ts'
import { type AreaSearch, type Origins, placeFrom } from './places.ts'
import type { NamedArea } from './queries.ts'
import {
  type Draft,
  defineTool,
  leftOut,
  sectionOf,
  shortened,
  shortenedSentence,
  withSources,
} from './tool.ts'

/** In which country and areas a point lies, or where an area of a name is. */
export function whereIs(service: AdviceService, search: AreaSearch, origins: Origins) {
  async function ofPoint(lat: number, lng: number, country: string | undefined, by: Asker): Promise<Draft> {
    const found = await service.whereIs(
      { lat, lng, ...(country !== undefined && { country_code: country }) },
      by,
    )
    const { country_code, nearest, hint } = found
    const draft = () => ({
      country_code,
      country: found.country,
      areas: found.admin,
      crop: found.crop,
      available: availableOf(found),
      ...(nearest && { nearest }),
      ...(hint && { hint }),
    })
    return withSources(draft, await origins.ofBoundaries(country_code === null ? [] : [country_code]))
  }

  async function named(name: string, country: string | undefined, by: Asker): Promise<Draft> {
    const { areas, similar } = await search({ name, country_code: country }, by)
    const draft = (most: number) => ({
      areas: listed(areas, most),
      ...(similar.length > 0 && { did_you_mean: listed(similar, most) }),
      ...leftOut(most, areas.length, similar.length),
    })
    const countries = [...areas, ...similar].map(({ countryCode }) => countryCode)
    return withSources(draft, await origins.ofBoundaries(countries))
  }

  return defineTool({
    name: 'where_is',
    title: 'Where a place is',
    description:
      'For a point: its country, its administrative areas, and which products have a value there (or why not). For a name or a part of one: areas that match, with codes for advise_area and the centre of each (not a place in a field). Villages, roads and addresses are not known. Examples: {"lat": -1.95, "lng": 30.06}, {"name": "Amhara", "country_code": "eth"}',
    input: WhereIsInput,
    async run({ lat, lng, name, country_code }, by) {
      if (lat !== undefined && lng !== undefined) return ofPoint(lat, lng, country_code, by)
      if (lat !== undefined || lng !== undefined) {
        throw ApiError.invalid(lat === undefined ? 'lat' : 'lng', 'is required with the other')
      }
      if (name === undefined) throw ApiError.invalid('name', 'is required where lat and lng are left out')
      return named(name, country_code, by)
    },
  })
}

function listed(areas: readonly NamedArea[], most: number): object[] {
  return areas.slice(0, most).map(({ countryCode, level, code, parent, lat, lng, ...area }) => ({
    country_code: countryCode,
    level,
    code,
    name: shortened(area.name, most),
    ...(parent !== null && { in: shortened(parent, most) }),
    lat: roundDegrees(lat),
    lng: roundDegrees(lng),
  }))
}

function availableOf({ products }: LocationValidation): object {
  const entries = Object.entries(products as LocationValidation['products'])
  return Object.fromEntries(entries.map(([code, { available, reason }]) => [code, available || reason]))
}

/** Why there is no value of a product, and what can be done about it. */
interface Reason {
  code: string
  error: string
}

/** Why products have no value at a point. */
export function explainNoData({ list }: Products, service: AdviceService, origins: Origins) {
  /** What each product says at a point: its release, or the reason for having no value. */
  async function saidAt(
    asked: PlaceInput,
    found: LocationValidation,
    by: Asker,
  ): Promise<Map<string, string | Reason>> {
    try {
      const body = await service.atPoint(null, placeFrom(asked, found), by)
      return new Map(
        list.map((product) => {
          const own = body[product.code] as AdviceBody
          return [product.code, sectionOf(product, own)?.release ?? (own as unknown as Reason)]
        }),
      )
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      return new Map(list.map(({ code }) => [code, reasonIn(error, code)]))
    }
  }

  return defineTool({
    name: 'explain_no_data',
    title: 'Why there is no value',
    description:
      'Why a product has no value at a point (outside the country, crop not offered, nothing published, no pixel there), and what to do about each. Call it when advise_point has no value for what was wanted. Example: {"lat": -1, "lng": 36.5, "country_code": "eth"}',
    input: PlaceInput,
    async run(asked, by) {
      const found = await service.whereIs(asked, by)
      const { country_code, crop, nearest, hint } = found
      const said = await saidAt(asked, found, by)
      const available = [...said].flatMap(([product, what]) =>
        typeof what === 'string' ? [{ product, release: what }] : [],
      )
      const draft = (most: number) => ({
        country_code,
        crop,
        available,
        reasons: groupsOf(said).map(({ products, code, error }) => ({
          products,
          code,
          error: shortenedSentence(error, most),
          mend: mendingOf(code as ErrorCode, asked),
        })),
        ...(nearest && { nearest }),
        ...(hint && { hint }),
      })
      return withSources(
        draft,
        await origins.ofReleases(
          available.map(({ release }) => release),
          by,
        ),
      )
    },
  })
}

/** Most products have one reason: it is said once. */
function groupsOf(said: ReadonlyMap<string, string | Reason>): (Reason & { products: string[] })[] {
  const groups = new Map<string, Reason & { products: string[] }>()
  for (const [product, what] of said) {
    if (typeof what === 'string') continue
    const { code, error } = what
    const group = groups.get(error)
    if (group) group.products.push(product)
    else groups.set(error, { products: [product], code, error })
  }
  return [...groups.values()]
}

function reasonIn({ code, message, details = [] }: ApiError, product: string): Reason {
  const own = details.find(({ field }) => field === product)
  return { code: own?.code ?? code, error: own?.message ?? message }
}
