import type { App } from '#src/http/app.ts'
import type { Person } from '#test/setup/people.ts'

export { rowsOf } from '#test/advice/batch/forms.ts'

interface Sent {
  type?: string
  accept?: string
  query?: string
}

/** Asks for a product in many polygons or areas, as somebody who has logged in. */
export function askForMany(
  app: App,
  { headers }: Pick<Person, 'headers'>,
  product: string,
  payload: object,
  { type = 'application/json', accept, query = '' }: Sent = {},
) {
  return app.inject({
    method: 'POST',
    url: `/advisory/${product}/polygons${query}`,
    headers: { ...headers, 'content-type': type, ...(accept && { accept }) },
    payload: JSON.stringify(payload),
  })
}

/** A collection of polygons. */
export function collectionOf(features: unknown[]): object {
  return { type: 'FeatureCollection', features }
}

/** The lines of an answer in NDJSON. */
export function linesOf(body: string): Record<string, unknown>[] {
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
