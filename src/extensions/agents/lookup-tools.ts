import type { LocationValidation } from '#schemas/location.ts'
import type { Products } from '#schemas/products/define.ts'
import { normalizeCountry, readPosition, unreadPosition } from '#src/advice/location/place.ts'
import { isLikePosition } from '#src/advice/location/spellings.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { wordKey } from '#src/lib/names.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { NamedArea } from '#src/lookup/gazetteer.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { CatalogueInput, defineReleasesInput, listProductCodes, PlaceInput, WhereIsInput } from './schemas.ts'
import {
  type AdviceBody,
  countLeftOut,
  findRemedy,
  readSection,
  shortenSentence,
  shortenText,
  withSources,
} from './tool.ts'
import { defineTool, fillLocation, releaseSource } from './tool-services.ts'

export function catalogue({ list }: Products) {
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
    async run({ country_code }, services) {
      const snapshot = await services.readSnapshot()
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

export function releases({ list }: Products) {
  return defineTool({
    name: 'releases',
    title: 'What is published',
    description:
      'Published releases, the newest first: product, country, crop, forecast month, inputs, scenarios, whether synthetic (demonstration data, not advice) or stale. Older months may be asked for by forecast_period. Example: {"country_code": "rwa"}',
    input: defineReleasesInput(listProductCodes(list)),
    async run({ product, country_code, crop }, services) {
      const snapshot = await services.readSnapshot()
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
  const { code, product, countryCode, cropCode, forecastPeriod, synthetic, stale, layers, conditions } =
    release
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
    ...(conditions && {
      question: conditions.question,
      conditions: conditions.list.map(({ condition }) => condition),
    }),
  }
}

export function whereIs() {
  return defineTool({
    name: 'where_is',
    title: 'Where a place is',
    description:
      'For a point: its country, its administrative areas, and which products have a value there (or why not). For a name or a part of one: areas that match, with codes for advise_area and the centre of each (not a place in a field). Villages, roads and addresses are not known. Examples: {"lat": -1.95, "lng": 30.06}, {"name": "Amhara", "country_code": "eth"}',
    input: WhereIsInput,
    async run({ name, country_code, ...sent }, services) {
      const { lat, lng } = (name === undefined ? undefined : readPosition(name, 'name')) ?? sent
      if (lat !== undefined && lng !== undefined) {
        const location = await services.validateLocation({ lat, lng, ...(country_code && { country_code }) })
        const code = location.country_code
        const sources = await services.findBoundarySources(code === null ? [] : [code])
        return withSources(() => describePlace(location), sources)
      }
      if (lat !== undefined || lng !== undefined) {
        throw ApiError.invalid(lat === undefined ? 'lat' : 'lng', 'is required with the other')
      }
      if (name === undefined) throw ApiError.invalid('name', 'is required where lat and lng are left out')
      const { areas, similar } = await services.searchAreas({ name, country_code })
      if (areas.length + similar.length === 0 && isLikePosition(name)) throw unreadPosition('name')
      const draft = (most: number) => ({
        areas: describeAreas(areas, most),
        ...(similar.length > 0 && { did_you_mean: describeAreas(similar, most) }),
        ...countLeftOut(most, areas.length, similar.length),
      })
      const countries = [...areas, ...similar].map(({ countryCode }) => countryCode)
      return withSources(draft, await services.findBoundarySources(countries))
    },
  })
}

function describePlace(location: LocationValidation): object {
  const { country_code, country, admin, crop, nearest, hint } = location
  return {
    country_code,
    country,
    areas: admin,
    crop,
    available: Object.fromEntries(
      Object.entries(location.products).map(([code, { available, reason }]) => [code, available || reason]),
    ),
    ...(nearest && { nearest }),
    ...(hint && { hint }),
  }
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

interface Reason {
  code: string
  error: string
}

export function explainNoData({ list }: Products) {
  return defineTool({
    name: 'explain_no_data',
    title: 'Why there is no value',
    description:
      'Why a product has no value at a point (outside the country, crop not offered, nothing published, no pixel there), and what to do about each. Call it when advise_point has no value for what was wanted. Example: {"lat": -1, "lng": 36.5, "country_code": "eth"}',
    input: PlaceInput,
    async run(input, services) {
      const location = await services.validateLocation(input)
      const { country_code, crop, nearest, hint } = location
      const ask = async () => services.advisePoint(null, fillLocation(input, location))
      const answer = await ask().catch((error) => {
        if (!(error instanceof ApiError) || error.status !== 404) throw error
        return error
      })
      /** Of each product the release, or the reason for no value. */
      const outcomes = list.map((product) => {
        if (answer instanceof ApiError)
          return { product: product.code, reason: findReason(answer, product.code) }
        const own = answer.body[product.code] as AdviceBody
        const { release } = readSection(product, own) ?? {}
        return { product: product.code, release, reason: own as unknown as Reason }
      })
      const draft = (most: number) => ({
        country_code,
        crop,
        available: outcomes.flatMap(({ product, release }) => (release ? [{ product, release }] : [])),
        reasons: groupByReason(outcomes.filter(({ release }) => !release)).map(
          ({ products, code, error }) => ({
            products,
            code,
            error: shortenSentence(error, most),
            mend: findRemedy(code as ErrorCode, input),
          }),
        ),
        ...(nearest && { nearest }),
        ...(hint && { hint }),
      })
      return withSources(draft, answer instanceof ApiError ? [] : answer.sources)
    },
  })
}

/** Most products have one reason, so an answer has each once. */
function groupByReason(outcomes: readonly { product: string; reason: Reason }[]) {
  const groups = new Map<string, Reason & { products: string[] }>()
  for (const { product, reason } of outcomes) {
    const { code, error } = reason
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
