import type { Static } from 'typebox'
import {
  CatalogueInput,
  defineReleasesInput,
  listProductCodes,
  PlaceInput,
  WhereIsInput,
} from '#schemas/agent-tools.ts'
import type { LocationValidation } from '#schemas/location.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { wordKey } from '#src/lib/names.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { NamedArea } from './queries.ts'
import {
  type AdviceBody,
  countLeftOut,
  type Draft,
  defineTool,
  findRemedy,
  readSection,
  shortenSentence,
  shortenText,
  type ToolCall,
  withSources,
} from './tool.ts'
import { fillLocation, normalizeCountry, releaseSource, type ToolServices } from './tool-services.ts'

/** Countries, crops and products, and the newest releases. */
export function catalogue({ products: { list }, readSnapshot }: ToolServices) {
  function listNewest(snapshot: Snapshot, { code: countryCode, crops }: Country) {
    return list.flatMap(({ code: product, seasonal }) =>
      (seasonal ? crops : [null]).flatMap(
        (cropCode) => snapshot.releaseOf({ product, countryCode, cropCode, forecastPeriod: null }) ?? [],
      ),
    )
  }

  return defineTool({
    name: 'catalogue',
    title: 'What there is advice for',
    description:
      'Countries with their codes and crops, products with their units, and the newest release of each. Call it first when the country, the crop or the product is in doubt. Example: {}',
    input: CatalogueInput,
    async run({ country_code }, call) {
      const snapshot = await readSnapshot(call)
      const requested = normalizeCountry(snapshot, country_code)
      const countries = snapshot.countries
        .filter(({ code }) => requested === null || code === requested)
        .map((country) => ({ country, releases: listNewest(snapshot, country) }))
      const draft = (most: number) => ({
        countries: countries.slice(0, most).map(({ country: { code, name, crops }, releases }) => ({
          country_code: code,
          name,
          crops: crops.slice(0, most),
          published: releases.slice(0, most).map((release) => release.code),
        })),
        products: list.map(({ code, names, unit }) => ({ product: code, title: names.title, unit })),
        ...countLeftOut(most, countries.length, ...countries.map(({ releases }) => releases.length)),
      })
      return withSources(
        draft,
        countries.flatMap(({ releases }) => releases.map(releaseSource)),
      )
    },
  })
}

/** Published releases, the newest first. */
export function releases({ products: { list }, readSnapshot }: ToolServices) {
  return defineTool({
    name: 'releases',
    title: 'What is published',
    description:
      'Published releases, the newest first: product, country, crop, forecast month, inputs, scenarios, whether synthetic (demonstration data, not advice) or stale. Older months may be asked for by forecast_period. Example: {"country_code": "rwa"}',
    input: defineReleasesInput(listProductCodes(list)),
    async run({ product, country_code, crop }, call) {
      const snapshot = await readSnapshot(call)
      const country = normalizeCountry(snapshot, country_code)
      const cropCode = crop === undefined ? null : snapshot.cropNamed(wordKey(crop))
      const found = snapshot.published
        .filter(
          (release) =>
            (product === undefined || release.product === product) &&
            (country === null || release.countryCode === country) &&
            (cropCode === null || release.cropCode === cropCode),
        )
        .sort(compareAge)
      const draft = (most: number) => ({
        releases: found.slice(0, most).map((release) => describePublished(release, most)),
        ...countLeftOut(most, found.length),
      })
      return (most: number) => withSources(draft, found.slice(0, most).map(releaseSource))(most)
    },
  })
}

function compareAge(a: PublishedRelease, b: PublishedRelease): number {
  const [one, other] = [a, b].map(({ forecastPeriod, code }) => `${forecastPeriod ?? ''} ${code}`)
  return (other as string).localeCompare(one as string, 'en')
}

function describePublished(release: PublishedRelease, most: number): object {
  const { code, product, countryCode, cropCode, forecastPeriod, synthetic, stale, layers } = release
  const listLabels = (key: 'input' | 'scenario') =>
    [...new Set(layers.flatMap((layer) => layer[key] ?? []))].slice(0, most)
  return {
    release: code,
    product,
    country_code: countryCode,
    crop: cropCode,
    ...(forecastPeriod !== null && { forecast_month: isoMonth(forecastPeriod) }),
    synthetic,
    ...(stale && { stale }),
    inputs: listLabels('input'),
    scenarios: listLabels('scenario'),
  }
}

/** The country and areas of a point, or the areas of a name. */
export function whereIs({ validateLocation, searchAreas, findBoundarySources }: ToolServices) {
  async function locatePoint(
    lat: number,
    lng: number,
    country: string | undefined,
    call: ToolCall,
  ): Promise<Draft> {
    const location = await validateLocation(
      { lat, lng, ...(country !== undefined && { country_code: country }) },
      call,
    )
    const { country_code, nearest, hint } = location
    const draft = () => ({
      country_code,
      country: location.country,
      areas: location.admin,
      crop: location.crop,
      available: describeAvailability(location),
      ...(nearest && { nearest }),
      ...(hint && { hint }),
    })
    return withSources(draft, await findBoundarySources(country_code === null ? [] : [country_code]))
  }

  async function findNamed(name: string, country: string | undefined, call: ToolCall): Promise<Draft> {
    const { areas, similar } = await searchAreas({ name, country_code: country }, call)
    const draft = (most: number) => ({
      areas: describeAreas(areas, most),
      ...(similar.length > 0 && { did_you_mean: describeAreas(similar, most) }),
      ...countLeftOut(most, areas.length, similar.length),
    })
    const countries = [...areas, ...similar].map(({ countryCode }) => countryCode)
    return withSources(draft, await findBoundarySources(countries))
  }

  return defineTool({
    name: 'where_is',
    title: 'Where a place is',
    description:
      'For a point: its country, its administrative areas, and which products have a value there (or why not). For a name or a part of one: areas that match, with codes for advise_area and the centre of each (not a place in a field). Villages, roads and addresses are not known. Examples: {"lat": -1.95, "lng": 30.06}, {"name": "Amhara", "country_code": "eth"}',
    input: WhereIsInput,
    async run({ lat, lng, name, country_code }, call) {
      if (lat !== undefined && lng !== undefined) return locatePoint(lat, lng, country_code, call)
      if (lat !== undefined || lng !== undefined) {
        throw ApiError.invalid(lat === undefined ? 'lat' : 'lng', 'is required with the other')
      }
      if (name === undefined) throw ApiError.invalid('name', 'is required where lat and lng are left out')
      return findNamed(name, country_code, call)
    },
  })
}

function describeAreas(areas: readonly NamedArea[], most: number): object[] {
  return areas.slice(0, most).map(({ countryCode, level, code, parent, lat, lng, name }) => ({
    country_code: countryCode,
    level,
    code,
    name: shortenText(name, most),
    ...(parent !== null && { in: shortenText(parent, most) }),
    lat: roundDegrees(lat),
    lng: roundDegrees(lng),
  }))
}

function describeAvailability({ products }: LocationValidation): object {
  const entries = Object.entries(products as LocationValidation['products'])
  return Object.fromEntries(entries.map(([code, { available, reason }]) => [code, available || reason]))
}

interface Reason {
  code: string
  error: string
}

/** Why products have no value at a point. */
export function explainNoData(services: ToolServices) {
  const { list } = services.products

  /** By product: its release, or the reason for no value. */
  async function readOutcomes(
    input: Static<typeof PlaceInput>,
    location: LocationValidation,
    call: ToolCall,
  ): Promise<Map<string, string | Reason>> {
    try {
      const body = await services.advisePoint(null, fillLocation(input, location), call)
      return new Map(
        list.map((product) => {
          const own = body[product.code] as AdviceBody
          return [product.code, readSection(product, own)?.release ?? (own as unknown as Reason)]
        }),
      )
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      return new Map(list.map(({ code }) => [code, findReason(error, code)]))
    }
  }

  return defineTool({
    name: 'explain_no_data',
    title: 'Why there is no value',
    description:
      'Why a product has no value at a point (outside the country, crop not offered, nothing published, no pixel there), and what to do about each. Call it when advise_point has no value for what was wanted. Example: {"lat": -1, "lng": 36.5, "country_code": "eth"}',
    input: PlaceInput,
    async run(input, call) {
      const location = await services.validateLocation(input, call)
      const { country_code, crop, nearest, hint } = location
      const outcomes = await readOutcomes(input, location, call)
      const available = [...outcomes].flatMap(([product, outcome]) =>
        typeof outcome === 'string' ? [{ product, release: outcome }] : [],
      )
      const draft = (most: number) => ({
        country_code,
        crop,
        available,
        reasons: groupByReason(outcomes).map(({ products, code, error }) => ({
          products,
          code,
          error: shortenSentence(error, most),
          mend: findRemedy(code as ErrorCode, input),
        })),
        ...(nearest && { nearest }),
        ...(hint && { hint }),
      })
      const codes = available.map(({ release }) => release)
      return withSources(draft, await services.findReleaseSources(codes, call))
    },
  })
}

/** Most products have one reason, so an answer has each once. */
function groupByReason(outcomes: ReadonlyMap<string, string | Reason>) {
  const groups = new Map<string, Reason & { products: string[] }>()
  for (const [product, outcome] of outcomes) {
    if (typeof outcome === 'string') continue
    const { code, error } = outcome
    const group = groups.get(error)
    if (group) group.products.push(product)
    else groups.set(error, { products: [product], code, error })
  }
  return [...groups.values()]
}

function findReason({ code, message, details = [] }: ApiError, product: string): Reason {
  const own = details.find(({ field }) => field === product)
  return { code: own?.code ?? code, error: own?.message ?? message }
}
