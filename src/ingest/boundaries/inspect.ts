import type { FeatureFile, Noted } from './feature.ts'
import { levelOf, type PropertyNames, recognise, recogniseAny, textOf } from './properties.ts'

/** A property of the features of a file. */
interface InspectedColumn {
  name: string
  /** What the first feature that has it says, shortened. */
  example: string | null
  /** How many features say nothing there. */
  blank: number
}

/** What is in a file of boundaries, as far as it can be told without a country. */
export interface Inspection {
  file: string
  features: number
  /** Whose properties they are, where that is known. */
  source: string | null
  /** The level of the first area, where it says so. */
  level: number | null
  /** What would be taken for code, name and parent. */
  properties: PropertyNames | null
  columns: InspectedColumn[]
}

/** Properties that are listed; files have some tens. */
const MAX_COLUMNS = 1000
const EXAMPLE_CHARACTERS = 40

/** Reads a file to its end, and lists the properties of its features. */
export async function inspectFile(file: FeatureFile, noted: Noted): Promise<Inspection> {
  const columns = new Map<string, { example: string | null; filled: number }>()
  let features = 0
  let first: Record<string, unknown> | undefined
  for await (const { properties } of file.features(noted)) {
    features++
    first ??= properties
    for (const name of Object.keys(properties)) {
      const column = columns.get(name) ?? { example: null, filled: 0 }
      if (columns.size < MAX_COLUMNS) columns.set(name, column)
      const text = textOf(properties, [name])
      if (text === undefined) continue
      column.filled++
      column.example ??= text.slice(0, EXAMPLE_CHARACTERS)
    }
  }
  return {
    file: file.name,
    features,
    ...recognised(first ?? {}),
    columns: [...columns].map(([name, { example, filled }]) => ({ name, example, blank: features - filled })),
  }
}

function recognised(
  properties: Record<string, unknown>,
): Pick<Inspection, 'source' | 'level' | 'properties'> {
  const keys = Object.keys(properties)
  const likely = recogniseAny(keys)
  if (!likely) return { source: null, level: null, properties: null }
  const level = levelOf(properties, likely.source)
  const layout = level === undefined ? likely : (recognise(keys, level) ?? likely)
  return { source: layout.source.name, level: level ?? null, properties: layout.names }
}
