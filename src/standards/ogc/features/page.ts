import { ApiError } from '#src/errors.ts'
import { roundedAmount } from '#src/lib/round.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Crs } from '../answers.ts'
import type { AreaLevel, AreaShapes, InTurn } from './areas.ts'
import type { Properties, PropertySource } from './collections.ts'
import type { ShapeForm } from './queries.ts'

/** A page with more characters ends early. */
const MOST_CHARACTERS = 4_000_000

/** Features that are put together without letting others go on: a tenth of a millisecond. */
const FEATURES_A_SLICE = 20

/** What is said where something is waited for too long. */
const LATE = ['OVERLOADED', 'QUERY_TIMEOUT', 'DATABASE_UNAVAILABLE']

/** What features are made with. */
export interface FeatureSource {
  level: AreaLevel
  shapes: AreaShapes
  properties: PropertySource
  form: ShapeForm
  inTurn: InTurn
  pause: Pause
  /** Names a feature; without it, the code of its area does. */
  idOf?: (code: string) => string
}

/** Features as texts. */
interface FeatureTexts {
  features: string[]
  /** Whether there would be more if it did not take so long. */
  isLate: boolean
  /** Whether there is no room for more. */
  isFull: boolean
}

/**
 * The features at some places of a level, as far as one page has room and time for them.
 *
 * @param before features that the page has before these
 */
export async function featuresAt(
  source: FeatureSource,
  places: readonly number[],
  before: readonly string[] = [],
): Promise<FeatureTexts> {
  const { level, shapes, properties, form, inTurn, pause, idOf = (code) => code } = source
  const found = whileInTime(shapes.of(level, places, form, inTurn), before.length > 0)
  const features: string[] = []
  let room = before.reduce((left, { length }) => left - length, MOST_CHARACTERS)
  for await (const said of whileInTime(properties(places), before.length > 0)) {
    const place = places[features.length] as number
    const { value: shape, done } = await found.next()
    if (done) break
    if (features.length % FEATURES_A_SLICE === 0) await pause()
    const feature = featureText(idOf(level.areas[place]?.code ?? ''), shape, said)
    features.push(feature)
    room -= feature.length
    if (room < 0) break
  }
  await found.return(undefined)
  const isFull = room < 0
  return { features, isLate: !isFull && features.length < places.length, isFull }
}

/** The properties of the features at some places, as far as one page has room and time for them. */
export async function rowsAt(
  properties: PropertySource,
  places: readonly number[],
  pause: Pause,
): Promise<{ rows: Properties[]; isLate: boolean }> {
  const rows: Properties[] = []
  let room = MOST_CHARACTERS
  for await (const row of whileInTime(properties(places))) {
    if (rows.length % FEATURES_A_SLICE === 0) await pause()
    rows.push(row)
    room -= JSON.stringify(row).length
    if (room < 0) break
  }
  return { rows, isLate: room >= 0 && rows.length < places.length }
}

/** Properties as a page shows them: totals without the digits that only computing has given them. */
export function forPeople(properties: Properties): Properties {
  const shown = Object.entries(properties).map(([name, value]) => [
    name,
    typeof value === 'number' && name.startsWith('total_') ? roundedAmount(value) : value,
  ])
  return Object.fromEntries(shown)
}

/** Ends early where what comes next is late: what has come is not to be lost, and the next page goes on. */
async function* whileInTime<Item>(
  items: AsyncGenerator<Item, void>,
  isPageBegun = false,
): AsyncGenerator<Item, void> {
  let isBegun = isPageBegun
  try {
    for await (const item of items) {
      isBegun = true
      yield item
    }
  } catch (error) {
    if (!isBegun || !(error instanceof ApiError && LATE.includes(error.code))) throw error
  }
}

/** A feature, with more members where it stands alone. */
export function featureText(id: string, shape: string, properties: Properties, more: object = {}): string {
  const start = JSON.stringify({ type: 'Feature', id, ...more }).slice(0, -1)
  return `${start},"geometry":${shape},"properties":${JSON.stringify(properties)}}`
}

/** A header that says which system coordinates are in. */
export function contentCrs({ uri }: Crs): string {
  return `<${uri}>`
}
