import type { Kysely } from 'kysely'
import { nameOfCrs } from '#src/database/crs.ts'
import type { Tables } from '#src/database/tables.ts'
import { type LayerSummary, listLayers } from '#src/domains/releases/layer-queries.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'
import {
  type CoverageSource,
  compareLayers,
  type LayerSource,
  type ReleaseSource,
} from '#src/ingest/source.ts'
import type { Statistics } from '#src/ingest/statistics.ts'
import type { Extent } from '#src/raster/grid.ts'
import { table } from './table.ts'

/** What a dry run has found, for programs: a coverage each, with its grid, extent, and layers. */
export function factsOf(
  release: ReleaseSource,
  extents: Extent[],
  statistics: Map<LayerSource, Statistics>,
): object[] {
  return release.coverages.map(({ grid, layers }, index) => ({
    grid,
    extent: extents[index],
    layers: layers.map((layer) => {
      const { input, scenario, unit, pixelType, origin } = layer
      return { input, scenario, unit, pixelType, ...statistics.get(layer), origin }
    }),
  }))
}

/** The same for people: grids, statistics, and what would change. */
export async function reportOf(
  db: Kysely<Tables>,
  release: ReleaseSource,
  extents: Extent[],
  statistics: Map<LayerSource, Statistics>,
  published: ReleaseRow | undefined,
): Promise<string> {
  const names = await Promise.all(release.coverages.map(({ grid }) => nameOfCrs(db, grid.srid)))
  return [
    ...release.coverages.flatMap((coverage, index) =>
      coverageReport(coverage, names[index] as string, extents[index] as Extent, statistics),
    ),
    ...(await differences(db, release, statistics, published)),
    'Nothing was written.',
  ].join('\n')
}

function coverageReport(
  { grid, layers }: CoverageSource,
  crs: string,
  extent: Extent,
  statistics: Map<LayerSource, Statistics>,
): string[] {
  const unit = grid.srid === 4326 ? 'degrees' : 'CRS units'
  const pixels = grid.width * grid.height
  const rows = layers.map((layer) => {
    const { validCount, minimum, maximum, mean } = statistics.get(layer) as Statistics
    return [
      nameOf(layer),
      layer.unit,
      layer.pixelType,
      `${((100 * validCount) / pixels).toFixed(2)} %`,
      ...[minimum, maximum, mean].map(numberText),
      layer.origin,
    ]
  })
  return [
    `grid: ${grid.width} x ${grid.height} pixels of ${grid.pixelWidth} x ${Math.abs(grid.pixelHeight)} ${unit}, ${crs}`,
    `extent: ${[extent.west, extent.south, extent.east, extent.north].map((degrees) => degrees.toFixed(5)).join(', ')} (west, south, east, north)`,
    table(['LAYER', 'UNIT', 'TYPE', 'VALID', 'MINIMUM', 'MAXIMUM', 'MEAN', 'FROM'], rows),
    '',
  ]
}

async function differences(
  db: Kysely<Tables>,
  release: ReleaseSource,
  statistics: Map<LayerSource, Statistics>,
  published: ReleaseRow | undefined,
): Promise<string[]> {
  if (!published) return ['Nothing is published for it yet: it would be the first.']
  if (published.checksum === release.description.checksum)
    return [`It is the same as ${published.code}, layer by layer.`]

  const before = new Map((await listLayers(db, published.id)).map((layer) => [nameOf(layer), layer]))
  const after = release.coverages.flatMap((coverage) =>
    coverage.layers.map((layer) => ({ layer, grid: coverage.grid })),
  )
  const rows = after
    .toSorted((a, b) => compareLayers(a.layer, b.layer))
    .map(({ layer, grid }) =>
      changeOf(before.get(nameOf(layer)), layer, grid, statistics.get(layer) as Statistics),
    )
  const kept = new Set(after.map(({ layer }) => nameOf(layer)))
  const gone = [...before.keys()].filter((name) => !kept.has(name)).map((name) => [name, 'would be gone'])
  return [
    `Against ${published.code}, which is published now:`,
    table(['LAYER', 'CHANGE'], [...rows, ...gone]),
  ]
}

function changeOf(
  before: LayerSummary | undefined,
  layer: LayerSource,
  grid: CoverageSource['grid'],
  now: Statistics,
): string[] {
  if (!before) return [nameOf(layer), 'is new']
  const changes = [
    difference('minimum', before.minimum, now.minimum),
    difference('maximum', before.maximum, now.maximum),
    difference('mean', before.mean, now.mean),
    difference('valid pixels', before.validCount, now.validCount),
    before.width === grid.width && before.height === grid.height
      ? undefined
      : `grid ${before.width} x ${before.height} -> ${grid.width} x ${grid.height}`,
  ]
  return [nameOf(layer), changes.filter(Boolean).join('; ') || 'same size, count, minimum, maximum and mean']
}

function difference(what: string, before: number | null, now: number | null): string | undefined {
  if (before === now) return undefined
  const percent =
    before && now !== null
      ? ` (${now >= before ? '+' : ''}${((100 * (now - before)) / Math.abs(before)).toFixed(1)} %)`
      : ''
  return `${what} ${numberText(before)} -> ${numberText(now)}${percent}`
}

function nameOf({ input, scenario }: Pick<LayerSource, 'input' | 'scenario'>): string {
  return [input, scenario].filter(Boolean).join(', ') || 'values'
}

function numberText(value: number | null): string {
  return value === null ? 'none' : String(Number(value.toPrecision(7)))
}
