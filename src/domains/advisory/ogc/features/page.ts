import type { Pause } from '#src/lib/turns.ts'
import type { Crs } from '../crs.ts'
import type { AreaLevel } from './area-levels.ts'
import type { ShapeForm } from './area-queries.ts'
import type { AreaShapes, InTurn } from './area-shapes.ts'
import type { Properties, PropertySource } from './collections.ts'

/** A page with more characters ends early. */
const MOST_CHARACTERS = 4_000_000

/** Features that are put together without letting others go on: a tenth of a millisecond. */
const FEATURES_A_SLICE = 20

/** What features are made with. */
export interface FeatureSource {
  level: AreaLevel
  shapes: AreaShapes
  properties: PropertySource
  form: ShapeForm
  inTurn: InTurn
  pause: Pause
}

/** Features as texts. */
export interface FeatureTexts {
  features: string[]
  /** Whether there would be more if it did not take so long. */
  isLate: boolean
}

/** The features at some places of a level, as far as one page has room and time for them. */
export async function featuresAt(source: FeatureSource, places: readonly number[]): Promise<FeatureTexts> {
  const { level, shapes, properties, form, inTurn, pause } = source
  const found = shapes.of(level, places, form, inTurn)
  const features: string[] = []
  let characters = 0
  let isFull = false
  for await (const said of properties(places)) {
    const place = places[features.length] as number
    const { value: shape } = await found.next()
    if (features.length % FEATURES_A_SLICE === 0) await pause()
    const feature = featureText(level.areas[place]?.code ?? '', shape ?? 'null', said)
    features.push(feature)
    characters += feature.length
    isFull = characters > MOST_CHARACTERS
    if (isFull) break
  }
  await found.return(undefined)
  return { features, isLate: !isFull && features.length < places.length }
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
