import type { App } from '#src/http/app.ts'
import { call, type Sent } from '#test/setup/calls.ts'

/** A place in Ethiopia, for which the demo has everything. */
export const FIELD = { lat: 9.52, lng: 38.53 }

/** Asks a point endpoint for a product; without a body where none is given. */
export const postPoint = (
  app: App,
  product: string,
  { body, query = '', headers }: { body?: Sent['payload']; query?: string; headers?: Sent['headers'] } = {},
) => call(app, `POST /advisory/${product}/point${query}`, { payload: body, headers })
