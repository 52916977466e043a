import type { App } from '#src/http/app.ts'
import type { Person } from '#test/setup/people.ts'

/** Asks for a product within a polygon or an area, as somebody who has logged in. */
export async function askWithin(
  app: App,
  { headers }: Pick<Person, 'headers'>,
  product: string,
  payload: object,
) {
  const response = await app.inject({ method: 'POST', url: `/advisory/${product}`, headers, payload })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}
