import type { App } from '#src/http/app.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { createFinder } from './finder.ts'
import { geotiffRoute } from './geotiff/route.ts'
import type { Maps } from './maps.ts'
import { tileRoute } from './tile-route.ts'
import { layerListRoute, tilesetRoute } from './tileset-routes.ts'

export function mapRoutes(app: App, lookup: Lookup, maps: Maps): void {
  const find = createFinder(app, lookup, maps)
  layerListRoute(app, find, maps)
  tilesetRoute(app, find, maps)
  tileRoute(app, find, maps)
  if (app.config.DOWNLOADS) geotiffRoute(app, find, maps)
}
