import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { TileUse } from '#src/lookup/queries.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Brings into memory what is asked for most, before anybody can ask. Where that fails, nobody is worse off. */
    warmUp(): Promise<void>
  }
}

/** What a process that starts may take to read tiles, and to ask itself for points. */
const READ_MS = 2000
const WARM_UP_MS = 1500

/** After so many points V8 has compiled what answers them; of so few places the tiles have surely been read. */
const MOST_POINTS = 10_000
const MOST_PLACES = 400

/**
 * Reads the tiles that processes were asked for most, and rehearses: as many points as were asked for, up to what helps.
 * A service that was asked for little is ready at once.
 */
export async function warmUp(app: App, lookup: Lookup): Promise<void> {
  try {
    const uses = await lookup.readMostUsed(READ_MS)
    if (uses.length === 0) return
    // Those are asked for by nobody.
    await app.sendWarmUp(requestsFor(uses, app.config.BASE_PATH), WARM_UP_MS).finally(lookup.forgetTileUses)
  } catch (error) {
    app.logFailure(error, 'what is asked for most could not be read before the first request')
  }
}

/** Requests for points, of the products and at the places that were asked for most. */
function* requestsFor(uses: TileUse[], base: string): Generator<string> {
  const asked = uses.reduce((sum, use) => sum + use.uses, 0)
  const requests = uses.slice(0, MOST_PLACES).map((use) => requestFor(use, base))
  for (let point = 0; point < Math.min(asked, MOST_POINTS); point++) {
    yield requests[point % requests.length] as string
  }
}

function requestFor({ product, countryCode, cropCode, longitude, latitude }: TileUse, base: string): string {
  const crop = cropCode === null ? {} : { crop: cropCode }
  const body = JSON.stringify({ lat: latitude, lng: longitude, ...crop, country_code: countryCode })
  return (
    `POST ${base}/advisory/${product}/point HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  )
}
