import { type CsvValue, csvCell } from '#src/http/csv.ts'
import type { Form } from '#src/http/forms.ts'
import { memberTexts } from '#src/lib/json-text.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { type Source, sharedMembers } from '../../lookup/sources.ts'
import type { QuantityRules } from '../../quantities/rules.ts'
import { entriesWith } from '../../quantities/sections.ts'
import { entriesOf, figureKeysOf } from '../entries.ts'
import { type Advice, locationOf } from '../location.ts'
import { quantitiesIn } from '../quantities.ts'
import { type Columns, createColumns } from './columns.ts'
import type { Item } from './items.ts'

/** Writes the answer for many polygons in one form. */
export interface Writer {
  opening: string
  /** Between two items. */
  separator: string
  closing: string
  /** An item, with the end of its line where the form has lines. */
  write(item: Item): string
}

/**
 * The writer of a form, for the answers of some sources.
 *
 * @param ofCall what is said of the whole call
 */
export function createWriter(
  form: Form,
  product: ProductDefinition,
  sources: readonly Source[],
  wanted: DistributionWanted | null,
  rules: QuantityRules | null,
  ofCall: object,
): Writer {
  const releases = sources.flatMap(({ release }) => release ?? [])
  const columns = createColumns(product, releases, figureKeysOf(product, wanted), rules)
  const head = { ...sharedMembers(sources), ...ofCall }
  switch (form) {
    case 'application/json': {
      const members = memberTexts(head).map((member) => `${member},`)
      const opening = `{${members.join('')}"items":[`
      return { opening, separator: ',', closing: ']}', write: itemWriter(product, rules) }
    }
    case 'application/x-ndjson': {
      const write = itemWriter(product, rules)
      return { opening: '', separator: '', closing: '', write: (item) => `${write(item)}\n` }
    }
    case 'text/csv':
      return tableWriter(sources, columns)
    case 'application/geo+json': {
      const members = JSON.stringify({ type: 'FeatureCollection', ...head }).slice(0, -1)
      const opening = `${members},"features":[`
      return { opening, separator: ',', closing: ']}', write: featureWriter(columns) }
    }
  }
}

/** Items are what is answered for one polygon, behind their id where they have one. */
function itemWriter(product: ProductDefinition, rules: QuantityRules | null): Writer['write'] {
  const { entries } = product
  function dataOf({ release, statistics }: Advice) {
    const own = entriesOf(product, release, statistics)
    if (!rules) return { [entries]: own }
    const figures = quantitiesIn(rules, product, release, statistics)
    return { [entries]: entriesWith(own, figures), quantities: figures.quantities }
  }
  return ({ id, name, members, advice, reason }) =>
    JSON.stringify({
      id,
      ...(advice
        ? {
            location: locationOf(name, advice),
            ...members,
            ...(reason ? { [entries]: null } : dataOf(advice)),
          }
        : name !== undefined && { sent: { name } }),
      ...reason,
    })
}

/** Properties are flat, as map programs want them: named as the columns of a table. */
function featureWriter({ names, cellsOf }: Columns): Writer['write'] {
  return ({ id, name, members, geometry, advice, reason }) => {
    const figures = advice && cellsOf(advice)
    const properties = {
      ...(advice
        ? {
            ...placeOf(name, advice),
            ...members,
            ...Object.fromEntries(names.map((column, index) => [column, figures?.[index]])),
          }
        : { name }),
      ...(reason && { error: reason.error, code: reason.code }),
    }
    const start = JSON.stringify({ type: 'Feature', id }).slice(0, -1)
    const shape = (advice && geometry) ?? 'null'
    return `${start},"geometry":${shape},"properties":${JSON.stringify(properties)}}`
  }
}

const PLACE_COLUMNS = ['name', 'lat', 'lng', 'area_ha'] as const

/** One row a polygon and a column for each number of each layer: what a data frame or a spreadsheet takes as it is. */
function tableWriter(sources: readonly Source[], { names: columns, cellsOf }: Columns): Writer {
  const memberNames = [...new Set(sources.flatMap(({ members }) => Object.keys(members)))]
  const row = (cells: CsvValue[]) => `${cells.map(csvCell).join(',')}\r\n`
  const empty = (names: readonly unknown[]) => names.map(() => null)
  return {
    opening: row(['id', ...PLACE_COLUMNS, ...memberNames, ...columns, 'error', 'code']),
    separator: '',
    closing: '',
    write({ id = null, name = null, members, advice, reason }) {
      const of = advice
        ? [
            ...Object.values(placeOf(name ?? undefined, advice)),
            ...memberNames.map((member) => members[member] ?? null),
            ...cellsOf(advice),
          ]
        : [name, ...empty(PLACE_COLUMNS.slice(1)), ...empty(memberNames), ...empty(columns)]
      return row([id, ...of, reason?.error ?? null, reason?.code ?? null])
    },
  }
}

/** Where a polygon is, in the order of the columns. */
function placeOf(
  sent: string | undefined,
  advice: Advice,
): Record<(typeof PLACE_COLUMNS)[number], string | number> {
  const { name, lat, lng, area_ha } = locationOf(sent, advice)
  return { name, lat, lng, area_ha }
}
