import type { App } from '#src/http/app.ts'
import { type Caller, call } from '#test/setup/calls.ts'

export { rowsOf } from '#test/advice/batch/forms.ts'

interface Form {
  type?: string
  accept?: string
  query?: string
}

/** Asks for a product in many polygons or areas, as somebody who has logged in. */
export function askForMany(
  app: App,
  by: Caller,
  product: string,
  payload: object,
  { type = 'application/json', accept, query = '' }: Form = {},
) {
  const headers = { 'content-type': type, ...(accept && { accept }) }
  return call(app, `POST /advisory/${product}/polygons${query}`, {
    by,
    headers,
    payload: JSON.stringify(payload),
  })
}

export function collectionOf(features: unknown[]): object {
  return { type: 'FeatureCollection', features }
}

export function linesOf(body: string): Record<string, unknown>[] {
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
