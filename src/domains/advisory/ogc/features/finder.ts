import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import type { Lookup } from '../../lookup/lookup.ts'
import { releaseMembers } from '../../lookup/products.ts'
import type { RegionFigures } from '../../lookup/region-figures.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { OGC_PATH } from '../answers.ts'
import type { Rectangle } from '../crs.ts'
import { type AdviceTables, type Asking, createAdviceTables } from './advice-table.ts'
import { type AreaLevel, createAreaLevels } from './area-levels.ts'
import { type LoadedLevel, listCodesMeeting } from './area-queries.ts'
import { type AreaShapes, createAreaShapes, type InTurn } from './area-shapes.ts'
import {
  adviceCollectionsOf,
  areaCollectionsOf,
  areaProperties,
  type Collection,
  type PropertySource,
} from './collections.ts'

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
    const snapshot = await inTime(request, reply, lookup.current)
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
