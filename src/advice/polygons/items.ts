import type { ErrorBody } from '#schemas/common.ts'
import type { Dhis2Mapping } from '#schemas/dhis2.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Items } from '#src/http/format.ts'
import { csvRow } from '#src/http/formats.ts'
import { makeSharedMembers, type SourceRelease } from '#src/lookup/places.ts'
import type { PublishedRelease, ReleaseMembers } from '#src/lookup/releases.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { type Advice, describeRegion } from '../polygon/advisors.ts'
import {
  listStatisticColumns,
  listStatisticKeys,
  makeRegionEntries,
  quantitiesIn,
  readStatistics,
} from '../polygon/answer.ts'
import { type QuantityCell, quantityColumns } from '../quantities/columns.ts'
import { entriesWith } from '../quantities/compute.ts'
import type { QuantityRules } from '../quantities/rules.ts'

/** One of many polygons or areas, and the answer to it. */
export interface PolygonItem {
  id: string | number | undefined
  /** The name in the request. */
  name: string | undefined
  /** The members of its release. */
  members: ReleaseMembers
  /** The shape as GeoJSON, where the format has shapes. */
  geometry: string | null
  /** Null for an invalid polygon, and after a timeout. */
  advice: Advice | null
  /** The reason for no value. */
  reason: ErrorBody | null
}

/** The answers of a call. */
interface PolygonAnswers {
  product: ProductDefinition
  sources: readonly SourceRelease[]
  /** The first release of the sources. */
  release: PublishedRelease
  distribution: DistributionOptions | null
  rules: QuantityRules | null
  /** Members of the whole answer beside those of the sources. */
  members: object
  mapping: Dhis2Mapping | undefined
}

/** The items of a call in all shapes, and the parts that data value sets need. */
export interface PolygonItems extends Items<PolygonItem> {
  product: ProductDefinition
  release: PublishedRelease
  /** The keys of the numbers of a layer. */
  keys: string[]
  mapping: Dhis2Mapping | undefined
}

const PLACE_COLUMNS = ['name', 'lat', 'lng', 'area_ha'] as const

export function createPolygonItems(answers: PolygonAnswers): PolygonItems {
  const { product, sources, release, mapping, rules } = answers
  const keys = listStatisticKeys(product, answers.distribution)
  const { names, pickCells } = createFigureColumns(answers, keys)
  const memberNames = [...new Set(sources.flatMap(({ members }) => Object.keys(members)))]
  const empty = (columns: readonly unknown[]) => columns.map(() => null)
  return {
    product,
    release,
    keys,
    mapping,
    members: { ...makeSharedMembers(sources), ...answers.members },
    columns: ['id', ...PLACE_COLUMNS, ...memberNames, ...names, 'error', 'code'],
    object: ({ id, name, members, advice, reason }) =>
      JSON.stringify({
        id,
        ...(advice
          ? {
              location: describeRegion(name, advice),
              ...members,
              ...(reason ? { [product.entries]: null } : createData(product, advice, rules)),
            }
          : name !== undefined && { sent: { name } }),
        ...reason,
      }),
    feature({ id, name, members, geometry, advice, reason }) {
      const figures = advice && pickCells(advice)
      const properties = {
        ...(advice
          ? {
              ...locate(name, advice),
              ...members,
              ...Object.fromEntries(names.map((column, index) => [column, figures?.[index]])),
            }
          : { name }),
        ...(reason && { error: reason.error, code: reason.code }),
      }
      const start = JSON.stringify({ type: 'Feature', id }).slice(0, -1)
      const shape = (advice && geometry) ?? 'null'
      return `${start},"geometry":${shape},"properties":${JSON.stringify(properties)}}`
    },
    rows({ id = null, name, members, advice, reason }) {
      const cells = advice
        ? [
            ...Object.values(locate(name, advice)),
            ...memberNames.map((member) => members[member] ?? null),
            ...pickCells(advice),
          ]
        : [name ?? null, ...empty(PLACE_COLUMNS.slice(1)), ...empty(memberNames), ...empty(names)]
      return csvRow([id, ...cells, reason?.error ?? null, reason?.code ?? null])
    },
  }
}

function createData(
  product: ProductDefinition,
  { release, statistics }: Advice,
  rules: QuantityRules | null,
): object {
  const entries = makeRegionEntries(product, release, statistics)
  if (!rules) return { [product.entries]: entries }
  const figures = quantitiesIn(rules, product, release, statistics)
  return { [product.entries]: entriesWith(entries, figures), quantities: figures.quantities }
}

function locate(
  sentName: string | undefined,
  advice: Advice,
): Record<(typeof PLACE_COLUMNS)[number], string | number> {
  const { name, lat, lng, area_ha } = describeRegion(sentName, advice)
  return { name, lat, lng, area_ha }
}

type Figures = Pick<Advice, 'release' | 'statistics'>

/**
 * Columns for the numbers of the layers of all releases, then those of quantities.
 *
 * @returns cells are null where a layer has no value, or the release lacks the layer
 */
function createFigureColumns({ product, sources, rules }: PolygonAnswers, keys: string[]) {
  const own = new Map(
    sources.flatMap(({ release }) => {
      if (!release) return []
      const quantities = rules && quantityColumns(rules, product, release)
      return [
        [
          release.code,
          {
            names: [...listStatisticColumns(product, release, keys), ...(quantities?.names ?? [])],
            pickCells(advice: Figures): QuantityCell[] {
              const figures = readStatistics(product, release, keys, advice)
              if (!rules || !quantities) return figures
              const amounts = quantitiesIn(rules, product, release, advice.statistics)
              return [...figures, ...quantities.cellsOf(amounts)]
            },
          },
        ],
      ]
    }),
  )
  const names = [...new Set([...own.values()].flatMap((columns) => columns.names))]
  return {
    names,
    pickCells(advice: Figures): QuantityCell[] {
      const columns = own.get(advice.release.code)
      const cells = columns?.pickCells(advice) ?? []
      if (own.size === 1) return cells
      return names.map((name) => cells[columns?.names.indexOf(name) ?? -1] ?? null)
    },
  }
}
