import type { App } from '#src/http/app.ts'

/** A place in Ethiopia, for which the demo has everything. */
export const FIELD = { lat: 9.52, lng: 38.53 }

/** Asks a point endpoint for a product; without a body where none is given. */
export async function postPoint(
  app: App,
  product: string,
  { body, query = '' }: { body?: unknown; query?: string } = {},
) {
  const response = await app.inject({
    method: 'POST',
    url: `/advisory/${product}/point${query}`,
    ...(body === undefined ? {} : { payload: body as object }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}
