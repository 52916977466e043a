import type { LocationValidation } from '#schemas/location.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, isScore, type Quantity } from '#schemas/quantities.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { NamedArea } from '#src/extensions/places/gazetteer.ts'
import { normalizeCountry, readPosition, unreadPosition } from '#src/extensions/places/place.ts'
import { isLikePosition } from '#src/extensions/places/spellings.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { wordKey } from '#src/lib/names.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { type AdviceBody, type Draft, findRemedy, groupBy, type Room } from './answer.ts'
import { type LocatedQuestion, locateIn, type Operations, releaseSource } from './operations.ts'
import type { Input, ToolName } from './schemas.ts'
import {
  describeCondition,
  describeSectionRelease,
  describeSureness,
  formatLabel,
  groupValues,
  makeTable,
  pickMembers,
  readSection,
  type Section,
  sortEntries,
} from './sections.ts'

type Products = readonly ProductDefinition[]

interface Tool<Name extends ToolName = ToolName> {
  title: string
  /** Agents choose by it: the answer, its units, and an example. */
  description: string | ((products: Products) => string)
  /** Asks an operation, and shortens its answer. @throws {ApiError} with the reason for no answer */
  run(input: Input<Name>, operations: Operations, products: Products): Promise<Draft>
}

export const TOOLS: { [Name in ToolName]: Tool<Name> } = {
  catalogue: {
    title: 'What there is advice for',
    description:
      'Countries with their codes and crops, products with their units, and the newest release of each. Call it first when the country, the crop or the product is in doubt. Example: {}',
    async run({ country_code }, { readSnapshot }, products) {
      const snapshot = await readSnapshot()
      const requested = normalizeCountry(snapshot, country_code)
      const countries = snapshot.countries
        .filter(({ code }) => requested === null || code === requested)
        .map(({ code: countryCode, name, crops }) => {
          const releases = products.flatMap(({ code: product, seasonal }) =>
            (seasonal ? crops : [null]).flatMap(
              (cropCode) =>
                snapshot.releaseOf({ product, countryCode, cropCode, forecastPeriod: null }) ?? [],
            ),
          )
          return { countryCode, name, crops, releases }
        })
      return (room) => ({
        countries: room.list(
          countries.map(({ countryCode, name, crops, releases }) => ({
            country_code: countryCode,
            name,
            crops: crops.slice(0, room.most),
            published: room.list(releases).map(({ code }) => code),
          })),
        ),
        products: products.map(({ code, names, unit }) => ({ product: code, title: names.title, unit })),
        sources: countries.flatMap(({ releases }) => releases.map(releaseSource)),
      })
    },
  },

  where_is: {
    title: 'Where a place is',
    description:
      'For a point: its country, its administrative areas, and which products have a value there (or why not). For a name or a part of one: areas that match, with codes for advise_area and the centre of each (not a place in a field). Villages, roads and addresses are not known. Examples: {"lat": -1.95, "lng": 30.06}, {"name": "Amhara", "country_code": "eth"}',
    async run({ name, country_code, ...sent }, { validateLocation, searchAreas, findBoundarySources }) {
      const { lat, lng } = (name === undefined ? undefined : readPosition(name, 'name')) ?? sent
      if (lat !== undefined && lng !== undefined) {
        const location = await validateLocation({ lat, lng, ...(country_code && { country_code }) })
        const sources = await findBoundarySources([location.country_code])
        return () => ({ ...describePlace(location), sources })
      }
      if (lat !== undefined || lng !== undefined) {
        throw ApiError.invalid(lat === undefined ? 'lat' : 'lng', 'is required with the other')
      }
      if (name === undefined) throw ApiError.invalid('name', 'is required where lat and lng are left out')
      const { areas, similar } = await searchAreas(name, country_code)
      if (areas.length + similar.length === 0 && isLikePosition(name)) throw unreadPosition('name')
      const sources = await findBoundarySources([...areas, ...similar].map(({ countryCode }) => countryCode))
      return (room) => ({
        areas: describeAreas(areas, room),
        ...(similar.length > 0 && { did_you_mean: describeAreas(similar, room) }),
        sources,
      })
    },
  },

  advise_point: {
    title: 'Advice for a point',
    description: (products) =>
      `What is published for one place: ${products.map(describeProduct).join(', ')}, by season scenario; 0 is a value. Rates are per hectare: for a field and its bags call quantities. A product without a value says why in code and error: never make one up. Example: {"lat": 9.5, "lng": 38.5}`,
    async run({ product: code, ...input }, { locate, advisePoint }, products) {
      const point = await locate(input)
      const product = products.find((one) => one.code === code) ?? null
      const { body: answer, sources } = await advisePoint(product, point)
      const outcomes = (product ? [product] : products).map((one) => {
        const body = product ? answer : (answer[one.code] as AdviceBody)
        return { product: one, body, section: readSection(one, body) }
      })
      return (room) => ({
        ...describePoint(point),
        products: outcomes.map((outcome) => describeOutcome(outcome, room)),
        sources,
      })
    },
  },

  advise_area: {
    title: 'Advice for an area or a field',
    description:
      'Statistics of one product in an administrative area (name or code) or in a polygon: mean weighed by area, min and max of pixels, standard deviation, percentage of the area that has values, and totals (kg, t) for that part where the product has them. For one farm advise_point is nearer to the field. Examples: {"product": "yield", "area": "Amhara", "country_code": "eth"}, {"product": "fertilizer", "polygon": {"type": "Polygon", "coordinates": [[[38.5, 9.5], [38.6, 9.5], [38.6, 9.6], [38.5, 9.5]]]}}',
    async run(input, { adviseArea }, products) {
      const product = products.find(({ code }) => code === input.product) as ProductDefinition
      const { body, sources } = await adviseArea(product, input)
      const section = readSection(product, body) as Section
      return (room) => ({
        location: body.location,
        country_code: body.country_code,
        crop: body.crop,
        product: product.code,
        unit: product.unit,
        ...describeSectionRelease(section),
        ...makeTable(product, section, room),
        ...pickMembers(body, ['expected']),
        ...describeCondition(product, body, room),
        sources,
      })
    },
  },

  quantities: {
    title: 'Kilograms, bags and costs for a field',
    description:
      'Amounts for a field of a given size, from the rates at its place: kilograms or tonnes of each input, and the predicted harvest. With bags: whole bags, rounded up; with prices: costs. 1 ha = 10,000 m2 = 2.47 acre. Example: {"lat": 9.5, "lng": 38.5, "area": "2 acre", "bags": "Urea:50,DAP:50", "prices": "ETB Urea:2250/bag,DAP:52"}',
    async run({ area, bags, prices, scenario, ...input }, { locate, advisePoint }, products) {
      const point = await locate(input)
      const { body, sources } = await advisePoint(null, { ...point, area, bags, prices })
      const found = findQuantities(products.filter(hasQuantities), body)
      const sections = found.map(({ section }) => section)
      const isSelected = scenarioFilter(scenario, sections)
      const rows = found.flatMap(({ product, section }) =>
        section.entries
          .filter((entry) => isSelected(entry.scenario))
          .map((entry) => {
            const { kg, t, bags: whole = null } = entry.quantity as unknown as Quantity
            const input = product.input ? formatLabel(entry[product.input.key]) : null
            const rate = entry[product.value.key]
            const [total, unit] = kg === undefined ? [t, 't'] : [kg, 'kg']
            return [product.code, input, labelRow(entry), rate, total, unit, whole]
          }),
      )
      const costs = found.flatMap(({ product, section }) =>
        (section.quantities.scenarios ?? [])
          .filter((one) => isSelected(one.scenario))
          .map((one) => [product.code, labelRow(one), one.cost]),
      )
      const currency = sections.flatMap(({ quantities }) => quantities.currency ?? [])[0]
      const asked = sections.map((section) => pickMembers(section, ['condition_source', 'question']))
      return (room) => ({
        ...describePoint(point),
        area_ha: sections[0]?.quantities.area.ha,
        columns: ['product', 'input', 'scenario', 'per_ha', 'total', 'unit', 'bags'],
        rows: room.list(rows),
        ...(currency !== undefined && { currency, costs: room.list(costs) }),
        ...Object.assign({}, ...asked),
        synthetic: sections.some(({ synthetic }) => synthetic),
        sources: sources.filter(({ of }) => sections.some(({ release }) => release === of)),
      })
    },
  },

  explain_no_data: {
    title: 'Why there is no value',
    description:
      'Why a product has no value at a point (outside the country, crop not offered, nothing published, no pixel there), and what to do about each. Call it when advise_point has no value for what was wanted. Example: {"lat": -1, "lng": 36.5, "country_code": "eth"}',
    async run(input, { validateLocation, advisePoint }, products) {
      const location = await validateLocation(input)
      const ask = async () => advisePoint(null, locateIn(input, location))
      const answer = await ask().catch((error) => {
        if (!(error instanceof ApiError) || error.status !== 404) throw error
        return error
      })
      /** Of each product the release, or the reason for no value. */
      const outcomes = products.map((product) => {
        if (answer instanceof ApiError) return { product: product.code, ...findReason(answer, product.code) }
        return { product: product.code, ...(answer.body[product.code] as Partial<Reason>) }
      })
      const groups = [
        ...groupBy(
          outcomes.filter(({ release }) => !release),
          ({ error }) => error,
        ).values(),
      ]
      return (room) => ({
        ...pickMembers(location, ['country_code', 'crop']),
        available: outcomes.flatMap(({ product, release }) => (release ? [{ product, release }] : [])),
        reasons: groups.map((group) => ({
          products: group.map(({ product }) => product),
          code: group[0]?.code,
          error: room.sentence(group[0]?.error as string),
          mend: findRemedy(group[0]?.code as ErrorCode, input),
        })),
        ...pickMembers(location, ['nearest', 'hint']),
        sources: answer instanceof ApiError ? [] : answer.sources,
      })
    },
  },

  releases: {
    title: 'What is published',
    description:
      'Published releases, the newest first: product, country, crop, forecast month, inputs, scenarios, whether synthetic (demonstration data, not advice) or stale. Older months may be asked for by forecast_period. Example: {"country_code": "rwa"}',
    async run({ product, country_code, crop }, { readSnapshot }) {
      const snapshot = await readSnapshot()
      const country = normalizeCountry(snapshot, country_code)
      const cropCode = crop === undefined ? null : snapshot.cropNamed(wordKey(crop))
      const found = snapshot.published
        .filter(
          (release) =>
            (product === undefined || release.product === product) &&
            (country === null || release.countryCode === country) &&
            (cropCode === null || release.cropCode === cropCode),
        )
        .sort((one, other) => ageOf(other).localeCompare(ageOf(one), 'en'))
      return (room) => {
        const shown = room.list(found)
        return {
          releases: shown.map((release) => describePublished(release, room)),
          sources: shown.map(releaseSource),
        }
      }
    },
  },
}

/** "predicted yield (kg/ha)"; of scores also what they mean. */
function describeProduct({ names, unit }: ProductDefinition): string {
  const [title = ''] = names.title.split(' (')
  return `${title.charAt(0).toLowerCase()}${title.slice(1)} (${unit}${isScore({ unit }) ? ', higher is better' : ''})`
}

function describePlace(location: LocationValidation): object {
  const { country_code, country, admin, crop, products } = location
  return {
    country_code,
    country,
    areas: admin,
    crop,
    available: Object.fromEntries(
      Object.entries(products).map(([code, { available, reason }]) => [code, available || reason]),
    ),
    ...pickMembers(location, ['nearest', 'hint']),
  }
}

function describeAreas(areas: readonly NamedArea[], room: Room): object[] {
  return room.list(areas).map(({ countryCode, level, code, parent, lat, lng, name }) => ({
    country_code: countryCode,
    level,
    code,
    name: room.text(name),
    ...(parent !== null && { in: room.text(parent) }),
    lat: roundDegrees(lat),
    lng: roundDegrees(lng),
  }))
}

function describePoint({ lat, lng, country_code, crop }: LocatedQuestion) {
  return { lat, lng, country_code: country_code.trim().toLowerCase(), crop: crop ?? null }
}

function describeOutcome(
  { product, section, body }: { product: ProductDefinition; section: Section | undefined; body: AdviceBody },
  room: Room,
): object {
  if (!section) return { product: product.code, code: body.code, error: room.sentence(String(body.error)) }
  const entries = room.list(sortEntries(product, section.entries))
  return {
    product: product.code,
    unit: product.unit,
    values: groupValues(product, entries),
    ...describeSureness(product, body, entries),
    ...describeCondition(product, body, room),
    ...describeSectionRelease(section),
  }
}

/** @throws {ApiError} the reason of the first product where none has a value */
function findQuantities(products: Products, body: AdviceBody) {
  const found = products.flatMap((product) => {
    const section = readSection(product, body[product.code] as AdviceBody)
    return section ? [{ product, section }] : []
  })
  if (found.length > 0) return found
  const { code, error } = body[(products[0] as ProductDefinition).code] as AdviceBody
  throw new ApiError(code as ErrorCode, String(error))
}

function labelRow({ scenario, condition }: { scenario?: unknown; condition?: unknown }): string {
  return [scenario, ...(condition ? [condition] : [])].map(formatLabel).join(', ')
}

/** @throws {ApiError} INVALID_PARAMETERS where nothing is published for the scenario */
function scenarioFilter(requested: string | undefined, sections: Section[]): (scenario: unknown) => boolean {
  if (requested === undefined) return () => true
  const names = [
    ...new Set(sections.flatMap(({ entries }) => entries.map(({ scenario }) => formatLabel(scenario)))),
  ]
  const isRequested = (scenario: unknown) => wordKey(formatLabel(scenario)) === wordKey(requested)
  if (!names.some(isRequested))
    throw ApiError.invalid('scenario', `must be one of ${names.join(', ')}`, names)
  return isRequested
}

interface Reason {
  release?: string
  code: string
  error: string
}

function findReason({ code, message, details = [] }: ApiError, product: string): Reason {
  const own = details.find(({ field }) => field === product)
  return { code: own?.code ?? code, error: own?.message ?? message }
}

function ageOf({ forecastPeriod, code }: PublishedRelease): string {
  return `${forecastPeriod ?? ''} ${code}`
}

function describePublished(release: PublishedRelease, { most }: Room): object {
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
