import { GeoTiff } from '#schemas/common.ts'
import { LayerList, MapClass, Tileset } from '#schemas/map.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { Maps } from './maps.ts'
import { mapRoutes } from './routes.ts'

/** The layers of published releases as maps. */
export async function map(app: App, { lookup, maps }: { lookup: Lookup; maps: Maps }): Promise<void> {
  for (const schema of [MapClass, Tileset, LayerList, GeoTiff]) app.addSchema(schema)
  mapRoutes(app, lookup, maps)
}
