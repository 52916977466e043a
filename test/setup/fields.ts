import type { App } from '#src/http/app.ts'
import { type Called, call, type Sent } from './calls.ts'
import type { Person } from './people.ts'
import { rectangle } from './square.ts'

export const GEOJSON = 'application/geo+json'

/** Where the demo has wheat in Ethiopia. */
const HECTARE = rectangle(38.5, 9.5, 38.501, 9.501)

export const fieldOf = (
  id: string | number,
  geometry: object = HECTARE,
  properties: object | null = null,
) => ({
  ...{ type: 'Feature' as const, id, geometry, properties },
})

/** Sends fields, or what claims to be some, to be kept as a collection of the person. */
export function keepFields(
  { app, person }: { app: App; person: Person },
  name: string,
  fields: object[] | string | Buffer,
  { type = GEOJSON, ...sent }: Sent & { type?: string } = {},
): Promise<Called> {
  const payload = Array.isArray(fields)
    ? JSON.stringify({ type: 'FeatureCollection', features: fields })
    : fields
  return call(app, `PUT /fields/${name}`, { by: person, headers: { 'content-type': type }, payload, ...sent })
}
