import type { App } from '#src/http/app.ts'
import type { AdviceDesk } from '../lookup/advice-desk.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { createAreaSearch } from './area-search.ts'
import { createOrigins } from './origins.ts'
import { mcpRoutes } from './routes.ts'
import { adviseArea } from './tools/advise-area.ts'
import { advisePoint } from './tools/advise-point.ts'
import { catalogue } from './tools/catalogue.ts'
import { explainNoData } from './tools/explain-no-data.ts'
import { quantities } from './tools/quantities.ts'
import { releases } from './tools/releases.ts'
import { whereIs } from './tools/where-is.ts'

export interface McpOptions {
  lookup: Lookup
  desk: AdviceDesk
}

/** The tools of agents: what the endpoints answer, in few words. */
export async function mcp(app: App, { lookup, desk }: McpOptions): Promise<void> {
  const { products } = app
  const origins = createOrigins(app, lookup)
  const search = createAreaSearch(app, origins)
  mcpRoutes(app, [
    catalogue(products, origins),
    whereIs(desk, search, origins),
    advisePoint(products, desk, origins),
    adviseArea(products, desk, search, origins),
    quantities(products, desk, origins),
    explainNoData(products, desk, origins),
    releases(products, origins),
  ])
}
