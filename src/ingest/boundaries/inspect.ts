import type { FeatureFile, Noted } from './feature.ts'
import { levelOf, type PropertyNames, recognise, recogniseAny, textOf } from './properties.ts'

interface InspectedColumn {
  name: string
  example: string | null
  blank: number
}

export interface Inspection {
  file: string
  features: number
  source: string | null
  level: number | null
  properties: PropertyNames | null
  columns: InspectedColumn[]
}

const MAX_COLUMNS = 1000
const EXAMPLE_CHARACTERS = 40

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
