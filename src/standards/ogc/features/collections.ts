import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition, Products } from '#schemas/products/define.ts'
import type { RegionFigures } from '#src/advice/polygon/region-figures.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { monthAndYear } from '#src/lib/dates.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { type PublishedRelease, releaseMembers, versionOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { CRSS, DEFAULT_CRS, OGC_PATH, type Period, type Rectangle } from '../answers.ts'
import {
  type AdviceTables,
  type AreaLevel,
  type AreaShapes,
  type Asking,
  createAdviceTables,
  createAreaLevels,
  createAreaShapes,
  type InTurn,
} from './areas.ts'
import { type LoadedLevel, listCodesMeeting } from './queries.ts'

/** What a feature says. Programs that draw maps want it flat, and the same of every feature of a collection. */
export type Properties = Record<string, string | number | boolean | null>

/** Gives the properties of features, in the order of their places, as they are taken; ends early where it takes long. */
export type PropertySource = (places: readonly number[]) => AsyncGenerator<Properties>

/** A collection of features: the areas of one level of a country, and what is said of each. */
export interface Collection {
  id: string
  title: string
  description: string
  attribution: string
  loaded: LoadedLevel
  countryName: string
  /** What it is about; null where it is of no time. */
  period: Period | null
  /** Changes with what it answers. */
  version: string
  /** What is said of the areas; null where it is nothing but what they are. */
  release: PublishedRelease | null
}

/** The collections of areas: one a level. */
function areaCollectionsOf(snapshot: Snapshot, loaded: readonly LoadedLevel[]): Collection[] {
  return loaded.flatMap((level) => {
    const countryName = snapshot.countries.find(({ code }) => code === level.countryCode)?.name
    return countryName === undefined ? [] : [areaCollection(level, countryName)]
  })
}

function areaCollection(loaded: LoadedLevel, countryName: string): Collection {
  const { countryCode, level, version, approximate, source, licence } = loaded
  const title = level === 0 ? `Outline of ${countryName}` : `Areas of level ${level} of ${countryName}`
  const warning = approximate ? ' They are approximate: made for the demo, not boundaries.' : ''
  return {
    id: `areas-${countryCode}-${level}`,
    title,
    description: `${title}, in the order of their codes.${warning}`,
    attribution: `${source} (${licence})`,
    loaded,
    countryName,
    period: null,
    version: `${version} ${countryName}`,
    release: null,
  }
}

/**
 * The collections of what releases come to in areas: one a release and level, by the code of the release.
 *
 * @param figures changes with how they are computed
 */
function adviceCollectionsOf(
  { published }: Pick<Snapshot, 'published'>,
  areas: readonly Collection[],
  { of }: Pick<Products, 'of'>,
  figures: string,
): Collection[] {
  return published
    .toSorted((one, other) => (one.code < other.code ? -1 : 1))
    .flatMap((release) =>
      areas
        .filter(({ loaded }) => loaded.countryCode === release.countryCode)
        .map((collection) => adviceCollection(collection, release, of(release.product)))
        .map((collection) => ({ ...collection, version: `${collection.version} ${figures}` })),
    )
}

function adviceCollection(
  { loaded, countryName, version, attribution }: Collection,
  release: PublishedRelease,
  { names }: ProductDefinition,
): Collection {
  const { code, cropCode, forecastPeriod, synthetic } = release
  const crop = cropCode === null ? '' : ` of ${cropCode}`
  const month = forecastPeriod === null ? '' : `, ${monthAndYear(forecastPeriod)}`
  const title = `${names.title}${crop}${month}, by areas of level ${loaded.level} of ${countryName}`
  const warning = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    id: `advisory-${code}-${loaded.level}`,
    title,
    description: `${title}: for each layer of the release ${code} the mean, the least and the greatest value, the standard deviation and how much of the area has values. Each pixel counts by the part of it that lies inside.${warning}`,
    attribution,
    loaded,
    countryName,
    period: forecastPeriod === null ? null : monthOf(forecastPeriod),
    version: `${version} ${versionOf(release)}`,
    release,
  }
}

/** From the first moment to the last one of a month. */
function monthOf(firstDay: string): Period {
  const first = new Date(`${firstDay.slice(0, 10)}T00:00:00Z`)
  return [first.getTime(), Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1) - 1000]
}

/** What is said of an area itself. */
function areaProperties({ loaded, countryName }: Collection, level: AreaLevel, place: number) {
  const { code = '', name = '', parent = null } = level.areas[place] ?? {}
  return { code, name, level: loaded.level, country_code: loaded.countryCode, country: countryName, parent }
}

/** Whether a collection is of a time that is asked for. */
export function meets({ period }: Collection, wanted: Period | null): boolean {
  return wanted === null || period === null || (period[0] <= wanted[1] && wanted[0] <= period[1])
}

/** A collection as its document has it. */
export function collectionBody({ id, title, description, attribution, loaded, period }: Collection) {
  return {
    id,
    title,
    description,
    attribution,
    extent: {
      ...(loaded.extent && { spatial: { bbox: [loaded.extent], crs: DEFAULT_CRS.uri } }),
      ...(period && { temporal: { interval: [period.map(momentOf)] } }),
    },
    itemType: 'feature',
    crs: CRSS.map(({ uri }) => uri),
    storageCrs: DEFAULT_CRS.uri,
  }
}

function momentOf(time: number): string | null {
  return Number.isFinite(time) ? new Date(time).toISOString() : null
}

/** Finds what requests for features are about. */
export interface Finder {
  shapes: AreaShapes
  collections(request: FastifyRequest, reply: FastifyReply): Promise<readonly Collection[]>
  /** @throws {ApiError} NOT_FOUND where there is none with this id */
  collection(request: FastifyRequest, reply: FastifyReply, id: string): Promise<Collection>
  level(collection: Collection, inTurn: InTurn): Promise<AreaLevel>
  /** The places of the areas that meet a rectangle, in order; of all of them without one. */
  places(level: AreaLevel, rectangle: Rectangle | null, inTurn: InTurn): Promise<number[]>
  properties(collection: Collection, level: AreaLevel, asking: Asking): PropertySource
  /** What a release comes to in areas. */
  figures: AdviceTables['of']
}

/** The collections of a snapshot and of the levels that are loaded. */
interface Found {
  loaded: readonly LoadedLevel[]
  all: readonly Collection[]
  byId: ReadonlyMap<string, Collection>
}

export function createFinder(app: App, lookup: Lookup, figures: RegionFigures): Finder {
  const db = app.database.reader
  const levels = createAreaLevels(db)
  const tables = createAdviceTables(figures, levels)
  const known = new WeakMap<Snapshot, Found>()

  /** Built once: there may be thousands. */
  async function find(request: FastifyRequest, reply: FastifyReply): Promise<Found> {
    const snapshot = await withTimeout(request, reply, lookup.current)
    const loaded =
      levels.knownLoaded(snapshot) ?? (await app.inTurn(request, reply, () => levels.loaded(snapshot)))
    const before = known.get(snapshot)
    if (before?.loaded === loaded) return before
    const areas = areaCollectionsOf(snapshot, loaded)
    const all = [...areas, ...adviceCollectionsOf(snapshot, areas, app.products, figures.version)]
    const found = { loaded, all, byId: new Map(all.map((collection) => [collection.id, collection])) }
    known.set(snapshot, found)
    return found
  }

  return {
    shapes: createAreaShapes(db, levels),
    figures: tables.of,
    collections: async (request, reply) => (await find(request, reply)).all,
    async collection(request, reply, id) {
      const found = (await find(request, reply)).byId.get(id)
      if (found) return found
      const list = `\`GET ${BASE}${OGC_PATH}/collections\` lists those that there are`
      throw new ApiError('NOT_FOUND', `There is no collection ${id}; ${list}.`)
    },
    level: async ({ loaded }, inTurn) => levels.known(loaded) ?? inTurn(() => levels.level(loaded)),
    async places(level, rectangle, inTurn) {
      const all = [...level.areas.keys()]
      if (rectangle === null) return all
      const codes = new Set(await inTurn(() => listCodesMeeting(db, level.loaded, rectangle)))
      return all.filter((place) => codes.has(level.areas[place]?.code ?? ''))
    },
    properties: (collection, level, asking) =>
      async function* (places) {
        const { release } = collection
        if (release === null) {
          for (const place of places) yield areaProperties(collection, level, place)
          return
        }
        const members = releaseMembers(release)
        const columns = tables.columnsOf(release)
        let at = 0
        for await (const figures of tables.of(release, level, places, asking)) {
          const area = areaProperties(collection, level, places[at++] as number)
          const said = Object.fromEntries(columns.map((column, index) => [column, figures[index] ?? null]))
          yield { ...area, ...members, ...said }
        }
      },
  }
}
