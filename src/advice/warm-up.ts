import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { TileUse } from '#src/lookup/queries.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the most used tiles before the first request. A failure only makes the first answers slower. */
    warmUp(): Promise<void>
  }
}

/** The deadlines at start for tiles, and for requests of the process to itself. */
const READ_MS = 2000
const WARM_UP_MS = 1500

/** Enough points for V8 to compile the code, and few enough places that their tiles are in memory. */
const MOST_POINTS = 10_000
const MOST_PLACES = 400

/**
 * Reads the most used tiles, and sends as many requests to this process as it had, up to a bound. A service with little
 * use is ready at once.
 */
export async function warmUp(app: App, lookup: Lookup): Promise<void> {
  try {
    const uses = await lookup.readMostUsed(READ_MS)
    if (uses.length === 0) return
    // These requests are no use of tiles.
    await app.sendWarmUp(requestsFor(uses, app.config.BASE_PATH), WARM_UP_MS).finally(lookup.forgetTileUses)
  } catch (error) {
    app.logFailure(error, 'what is asked for most could not be read before the first request')
  }
}

/** Requests for the most used products and places. */
function* requestsFor(uses: TileUse[], base: string): Generator<string> {
  const requested = uses.reduce((sum, use) => sum + use.uses, 0)
  const requests = uses.slice(0, MOST_PLACES).map((use) => requestFor(use, base))
  for (let point = 0; point < Math.min(requested, MOST_POINTS); point++) {
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
