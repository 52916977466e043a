import type { PackFormat } from '#schemas/packs.ts'
import { type AreaReference, listAreas } from '#src/catalog/area-queries.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { CSV } from '#src/http/formats.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { isReplaced, versionOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Maps } from '../maps/maps.ts'
import { findPackArea, type PackSources } from './content.ts'
import { chooseLayer, type LayerWish, writeMbtiles } from './mbtiles.ts'
import {
  chooseGrid,
  listTableSeries,
  makeTable,
  type PackedArea,
  refuseLargeTable,
  type TableSeries,
} from './rows.ts'
import { writeCsv, writeParquet } from './tables.ts'

export type PackMaker = Omit<PackSources, 'pause'> & { maps: Maps }

export interface PackWish extends LayerWish {
  area: AreaReference
  format: PackFormat
}

/** A pack that can be made. */
export interface Pack {
  /** Names its bytes: other releases, boundaries, formats and layers have another one. */
  tag: string
  fileName: string
  type: string
  /**
   * Its bytes, in pieces.
   *
   * @throws {ApiError} TOO_MANY_POINTS; OVERLOADED where a release or the boundaries are replaced meanwhile
   */
  pieces(pause: Pause): AsyncGenerator<Uint8Array>
}

interface PackSubject {
  area: PackedArea
  series: TableSeries[]
  wish: PackWish
}

interface PackFormatWriter {
  type: string
  /** Raised with each change of its bytes. */
  version: number
  /** What its bytes depend on beside the releases and the area. */
  parts(subject: PackSubject): string[]
  write(
    sources: PackSources & Pick<PackMaker, 'maps'>,
    subject: PackSubject,
  ): AsyncIterable<Uint8Array> | Promise<Iterable<Uint8Array>>
}

const tableOf = (sources: PackSources, { area, series }: PackSubject) => makeTable(sources, area, series)

async function* csvOf(sources: PackSources, subject: PackSubject): AsyncGenerator<Uint8Array> {
  yield* writeCsv(await tableOf(sources, subject))
}

const FORMATS: Record<PackFormat, PackFormatWriter> = {
  csv: { type: CSV.contentType, version: 1, parts: () => [], write: csvOf },
  parquet: {
    type: 'application/vnd.apache.parquet',
    version: 1,
    parts: () => [],
    write: async (sources, subject) => [await writeParquet(subject.area, await tableOf(sources, subject))],
  },
  mbtiles: {
    type: 'application/vnd.sqlite3',
    version: 1,
    parts({ series, area, wish }) {
      const { release, layer } = chooseLayer(series, area, wish)
      return [release, String(layer)]
    },
    async write({ maps, pause }, { series, area, wish }) {
      const wanted = chooseLayer(series, area, wish)
      const found = series.find(({ release }) => release.code === wanted.release) as TableSeries
      return [await writeMbtiles(maps, area, found, wanted, pause)]
    },
  },
}

/** Media types without parameters, for documents. */
export function mediaTypeOf(format: PackFormat): string {
  return FORMATS[format].type.replace(/;.*/, '')
}

/** Codes of areas may have anything in them. */
function nameFile({ countryCode, code }: PackedArea, parts: string[], format: PackFormat): string {
  const name = [countryCode, code, ...parts].join('-').replaceAll(/[^\w.-]/g, '-')
  return `${name}.${format}`
}

/**
 * Finds out what a pack would be, without making it.
 *
 * @throws {ApiError} as {@link findPackArea}, NO_RELEASE, NO_DATA, and TOO_MANY_POINTS for an area that is too large
 */
export async function preparePack(maker: PackMaker, snapshot: Snapshot, wish: PackWish): Promise<Pack> {
  const { maps, ...sources } = maker
  const area = await findPackArea(sources, snapshot, wish.area)
  const series = listTableSeries(sources, snapshot, area.countryCode)
  await refuseLargeTable(sources, area, chooseGrid(series, area))
  const subject = { area, series, wish }
  const { format } = wish
  const { type, version, parts, write } = FORMATS[format]
  const further = parts(subject)
  const versions = series.map(({ release }) => versionOf(release))
  const place = [area.countryCode, String(area.level), area.code]
  return {
    tag: entityTag(
      format,
      String(version),
      snapshot.boundaries,
      ...place,
      JSON.stringify(versions),
      ...further,
    ),
    fileName: nameFile(area, further, format),
    type,
    async *pieces(pause) {
      try {
        yield* await write({ ...sources, maps, pause }, subject)
      } catch (error) {
        throw isReplaced(error) ? overloaded() : error
      }
      await refuseOtherBoundaries(sources, snapshot, area)
    },
  }
}

/** Its tag names the boundaries of the snapshot: others were loaded meanwhile, or are not at a replica yet. */
async function refuseOtherBoundaries(
  { app }: Pick<PackSources, 'app'>,
  { boundaries }: Snapshot,
  { countryCode, level, code }: PackedArea,
): Promise<void> {
  const found = await listAreas(app.database.reader, { countryCode, levels: [level], code, limit: 1 })
  if (found.boundaries !== boundaries) throw overloaded()
}
