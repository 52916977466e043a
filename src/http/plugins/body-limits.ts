import fp from 'fastify-plugin'
import { isObject } from '#src/lib/objects.ts'
import type { App } from '../app.ts'

/** What is enough for every body but those that have many points, or the outline of something. */
const SHORT_BODY_BYTES = 8192

/** A character beyond the first 65,536, as those write it who send ASCII alone: `\ud83c\udf3e`. */
const LONGEST_CHARACTER_BYTES = 12

/** For what is around the texts of a body. */
const REMAINDER_BYTES = 2048

/**
 * Holds the body of each route that says no `bodyLimit` itself to 8 kB, or to what its texts can take at their
 * longest: what is longer is not even received.
 */
export const bodyLimits = fp(
  async (app: App) => {
    app.addHook('onRoute', function (route) {
      if (route.bodyLimit !== undefined) return
      const texts = LONGEST_CHARACTER_BYTES * charactersOf(route.schema?.body, (id) => this.getSchema(id))
      const needed = Math.max(SHORT_BODY_BYTES, texts + REMAINDER_BYTES)
      route.bodyLimit = Math.min(needed, app.config.BODY_LIMIT_BYTES)
    })
  },
  { name: 'body-limits' },
)

/** How many characters all texts of a schema have together, at their longest. */
function charactersOf(schema: unknown, schemaOf: (id: string) => unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum, part) => sum + charactersOf(part, schemaOf), 0)
  if (!isObject(schema)) return 0
  const { $ref, maxLength, ...parts } = schema
  if (typeof $ref === 'string') return charactersOf(schemaOf($ref.replace('#', '')), schemaOf)
  return (typeof maxLength === 'number' ? maxLength : 0) + charactersOf(Object.values(parts), schemaOf)
}
