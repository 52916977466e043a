import { setImmediate } from 'node:timers/promises'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import { isReplaced, overloaded } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { CSV } from '#src/http/formats.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { versionOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Maps } from '#src/maps/maps.ts'
import { findPackArea, type PackedArea, type PackSources, planContent, readPackContent } from './content.ts'
import { digestPage, writePackHtml } from './html.ts'
import { choosePackLayer, type LayerWish, writeMbtiles } from './mbtiles.ts'
import { findAreaCode } from './queries.ts'
import { chooseGrid, findCoveredPixels, listTableSeries, makeTable, type TableSeries } from './rows.ts'
import type { PackFormat } from './schemas.ts'
import { writeCsv, writeParquet } from './tables.ts'

type PackMaker = Omit<PackSources, 'pause'> & { maps: Maps }

interface PackWish extends LayerWish {
  area: AreaReference
  format: PackFormat
}

/** A pack that can be made. */
export interface PreparedPack {
  /** Names its content: other releases, boundaries, formats and layers have another one. */
  tag: string
  /** Whether the same content has other bytes where it is made another time. */
  isDated: boolean
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
  snapshot: Snapshot
  area: PackedArea
  series: TableSeries[]
  wish: PackWish
}

interface PackFormatWriter {
  type: string
  /** Raised with each change of its bytes. */
  version: number
  /** Whether it says when it was made. */
  isDated?: true
  /** What its bytes depend on beside the releases and the area. */
  parts?(subject: PackSubject, sources: Omit<PackMaker, 'maps'>): string[] | Promise<string[]>
  /** @throws {ApiError} for an area that is too large or has nothing, before anything is read */
  refuse(sources: Omit<PackMaker, 'maps'>, subject: PackSubject): Promise<void>
  /** @param tag of the pack */
  write(
    sources: PackSources & Pick<PackMaker, 'maps'>,
    subject: PackSubject,
    tag: string,
  ): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>
}

const refuseTable = async (sources: Omit<PackMaker, 'maps'>, { area, series }: PackSubject) =>
  void (await findCoveredPixels({ ...sources, pause: () => setImmediate() }, area, chooseGrid(series, area)))

/** What the page says of a country: also the months of other releases, in reasons. */
function listCountryParts({ snapshot, area: { countryCode } }: PackSubject): string[] {
  const published = snapshot.published.filter((release) => release.countryCode === countryCode)
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  return [JSON.stringify(country), ...published.map(versionOf).sort()]
}

const FORMATS: Record<PackFormat, PackFormatWriter> = {
  html: {
    type: 'text/html; charset=utf-8',
    version: 1,
    isDated: true,
    parts: async (subject, { app }) => [
      await digestPage(),
      app.config.PUBLIC_URL ?? '',
      ...listCountryParts(subject),
    ],
    refuse: async (sources, { snapshot, area }) => void (await planContent(sources, snapshot, area)),
    async write(sources, { snapshot, area }, tag) {
      const content = await readPackContent(sources, snapshot, area, new Date())
      const { serviceUrl } = content
      const path = [area.countryCode, area.code].map(encodeURIComponent).join('/')
      const url = `${serviceUrl}/packs/${path}.html?level=${area.level}`
      return [await writePackHtml(sources, content, serviceUrl === null ? null : { tag, url })]
    },
  },
  csv: {
    type: CSV.contentType,
    version: 1,
    refuse: refuseTable,
    write: async (sources, { area, series }) => writeCsv(await makeTable(sources, area, series)),
  },
  parquet: {
    type: 'application/vnd.apache.parquet',
    version: 3,
    refuse: refuseTable,
    write: async (sources, { area, series }) =>
      writeParquet(area, await makeTable(sources, area, series), sources.pause),
  },
  mbtiles: {
    type: 'application/vnd.sqlite3',
    version: 2,
    async refuse(_, { area, series, wish }) {
      const { release } = choosePackLayer(series, area, wish)
      chooseGrid(
        series.filter((one) => one.release.code === release),
        area,
      )
    },
    parts({ series, area, wish }) {
      const { release, layer } = choosePackLayer(series, area, wish)
      return [release, String(layer)]
    },
    async write({ maps, pause }, { series, area, wish }) {
      const wanted = choosePackLayer(series, area, wish)
      const found = series.find(({ release }) => release.code === wanted.release) as TableSeries
      return [await writeMbtiles(maps, area, found, wanted, pause)]
    },
  },
}

/** What documents say of a format: its media type without parameters, and whether there are ranges of it. */
export function describeFormat(format: PackFormat): { mediaType: string; hasRanges: boolean } {
  const { type, isDated = false } = FORMATS[format]
  return { mediaType: type.replace(/;.*/, ''), hasRanges: !isDated }
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
export async function preparePack(
  maker: PackMaker,
  snapshot: Snapshot,
  wish: PackWish,
): Promise<PreparedPack> {
  const { maps, ...sources } = maker
  const area = await findPackArea(sources, snapshot, wish.area)
  const series = listTableSeries(sources, snapshot, area.countryCode)
  const { format } = wish
  const { type, version, isDated = false, parts, refuse, write } = FORMATS[format]
  const subject = { snapshot, area, series, wish }
  await refuse(sources, subject)
  const further = (await parts?.(subject, sources)) ?? []
  const versions = series.map(({ release }) => versionOf(release))
  const place = [area.countryCode, String(area.level), area.code]
  const tag = entityTag(
    ...[format, String(version), area.boundaries],
    ...place,
    ...[JSON.stringify(versions), JSON.stringify(further)],
  )
  return {
    tag,
    isDated,
    fileName: nameFile(area, format === 'mbtiles' ? further : [], format),
    type,
    async *pieces(pause) {
      try {
        yield* await write({ ...sources, maps, pause }, subject, tag)
      } catch (error) {
        throw isReplaced(error) ? overloaded() : error
      }
      // Others were loaded meanwhile.
      const found = await findAreaCode(sources.app.database.reader, area)
      if (found?.boundaries !== area.boundaries) throw overloaded()
    },
  }
}
