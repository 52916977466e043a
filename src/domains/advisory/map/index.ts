import { GeoTiff } from '#schemas/common.ts'
import { LayerList, MapClass, Tileset } from '#schemas/map.ts'
import type { App } from '#src/http/app.ts'
import { sharedWork } from '#src/lib/fair-line.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { createMaps } from './maps.ts'
import { mapRoutes } from './routes.ts'

/** The layers of published releases as maps. */
export async function map(app: App, { lookup }: { lookup: Lookup }): Promise<void> {
  for (const schema of [MapClass, Tileset, LayerList, GeoTiff]) app.addSchema(schema)
  const pause = () => app.turns.next(sharedWork('maps'))
  const maps = createMaps({ db: app.database.reader, stores: app.tiles }, pause)
  mapRoutes(app, lookup, maps)
}
