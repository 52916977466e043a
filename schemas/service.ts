import { type TSchema, Type } from 'typebox'
import * as t from './common.ts'

export const SERVICE_NAME = 'Agricultural advisory service'

/** What search engines show below the name of its pages. */
export const SERVICE_DESCRIPTION =
  'Advice for a place, a field or a district: expected yield, fertilizer, organic inputs and forage, on a map and over HTTP.'

/** A link of an extension: a path below the base path. */
export interface ServiceLink {
  path: string
  description: string
}

/** @param links of extensions, by name */
export const defineServiceLinks = (links: Record<string, ServiceLink>) =>
  t.component('ServiceLinks', {
    name: Type.String({ examples: [SERVICE_NAME] }),
    openapi: t.string('The OpenAPI document.', '/openapi.json'),
    openapi_parts: Type.Record(Type.String(), Type.String(), {
      description: 'The documents for one purpose: `points`, `fields`, `account` and `operations`.',
      examples: [{ points: '/openapi/points.json' }],
    }),
    catalog: t.string('The published data.', '/catalog'),
    ...mapLinks(links, ({ path, description }) => t.string(description, path)),
    extensions: t.Extensions,
  })

export const Health = t.component('Health', {
  status: Type.Literal('ok', { description: 'Always `ok`; anything else is an error.' }),
})

/** @param members of extensions */
export const defineReadiness = (members: Record<string, TSchema>) =>
  t.component('Readiness', {
    ...Health.properties,
    replica: Type.Optional(
      t.object('The replica of the database, where the service has one.', {
        state: Type.Enum(['used', 'behind', 'unavailable'], {
          description:
            '`used`: requests that only read are answered from it. `behind`: its data are too old. `unavailable`: it does not answer. Unless it is used, the database answers instead.',
        }),
        lag_ms: t.numberOrNull(
          'How many milliseconds old at most what it answers is; null where it has no measure.',
          412,
        ),
      }),
    ),
    ...members,
  })

/** Members of readiness about synthetic data. */
export const DemoMembers = {
  demo: Type.Optional(
    t.object(
      'How far the demo is, while synthetic data are still being loaded. Requests are answered meanwhile.',
      {
        loaded: t.integer('Releases that are published.', 3),
        of: t.integer('Releases that the demo has.', 10),
      },
    ),
  ),
}

export function mapLinks<Value>(
  links: Record<string, ServiceLink>,
  make: (link: ServiceLink) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(links).map(([name, link]) => [name, make(link)]))
}
