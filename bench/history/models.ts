import { seedDemo } from '#src/ingest/demo/seed.ts'
import { DEMO_RELEASES } from '#src/ingest/demo/source.ts'
import type { Cleanup } from '../cleanup.ts'
import { ask, type Credentials, join, makeKey } from '../load/client.ts'
import type { DatabaseServer } from '../postgres.ts'
import { type LoadedRaster, pointsIn, takePoints } from '../rasters/raster.ts'
import { hectareAround } from '../rasters/shapes.ts'
import { startService, withDatabase } from '../service.ts'

/** So many points are asked for of each release; not all of them have a value. */
const PLACES = 60

/** One of so many is asked for as a field, and for all products. */
const OTHERWISE = 6
const SEED = 20_261_123

/** A database in which an account has been given advice of each kind, by the service itself. */
export interface Models {
  /** Its name on the server. */
  database: string
  account: Credentials
  key: string
  /** A point that is answered, and where it is asked for. */
  point: { path: string; body: object }
}

/** Has the service keep items of each product, country and kind. */
export async function makeModels(cleanup: Cleanup, server: DatabaseServer): Promise<Models> {
  const database = 'history_models'
  const where = { DATABASE_URL: await server.createDatabase(database) }
  await withDatabase(where, (opened) => seedDemo(opened, () => {}))
  const extents = await extentsOf(server, where.DATABASE_URL)
  const service = await startService(cleanup, where)
  const { email, password, ...client } = await join(service)
  const key = await makeKey(client)
  const holder = { port: service.port, token: key }
  let point: Models['point'] | undefined
  for (const { product, countryCode, cropCode } of DEMO_RELEASES) {
    const draw = pointsIn(extents.get(countryCode) as LoadedRaster['bounds'], SEED)
    const season = { country_code: countryCode, ...(cropCode && { crop: cropCode }) }
    const path = `/advisory/${product.code}`
    for (const [index, place] of takePoints(draw, PLACES, () => true).entries()) {
      const body = { ...place, ...season }
      const { status } = await ask(holder, { path: `${path}/point`, body })
      if (status !== 200) continue
      point ??= { path: `${path}/point`, body }
      if (index % OTHERWISE > 0) continue
      const all = await ask(holder, { path: '/advisory/point', body })
      const field = await ask(holder, { path, body: { geometry: hectareAround(place), ...season } })
      if (all.status !== 200 || field.status !== 200) {
        throw new Error(`a place was answered ${all.status}, as a field ${field.status} ${field.body}`)
      }
    }
  }
  await service.stop()
  if (!point) throw new Error('no point of the demo was answered')
  return { database, account: { email, password }, key, point }
}

async function extentsOf(server: DatabaseServer, url: string): Promise<Map<string, LoadedRaster['bounds']>> {
  const rows = (await server.execute(url, 'select code, west, south, east, north from country')) as ({
    code: string
  } & LoadedRaster['bounds'])[]
  return new Map(rows.map(({ code, ...bounds }) => [code, bounds]))
}
