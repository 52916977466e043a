import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { AdminQuery } from '#schemas/areas.ts'
import { BATCH_LIMITS } from '#schemas/batch.ts'
import { defineReleasesQuery, RELEASE_STATES } from '#schemas/catalog.ts'
import { defineCoverageQuery } from '#schemas/coverage.ts'
import { defineFeedbackRequest } from '#schemas/feedback.ts'
import { defineHistoryQuery } from '#schemas/history.ts'
import { UNAVAILABLE_REASONS } from '#schemas/location.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { MOST_FEATURES } from '#src/standards/ogc/parameters.ts'

const WEB = 'web'
const MODULES = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.[jt]s$/.test(name),
)

/** The value of a constant of a module of the pages. Modules of pages import nothing of the service. */
function constantOf(module: string, name: string): unknown {
  const file = MODULES.find((one) => one.replace(/\.[jt]s$/, '') === module) as string
  const declared = new RegExp(
    `^(?:export )?const ${name}(?:: [^=]+)? = (.*?)(?: as const)?$(?=\n\\S|\n\n)`,
    'ms',
  )
  const [, text] = declared.exec(readFileSync(join(WEB, file), 'utf8')) ?? []
  return runInNewContext(`(${text})`)
}

const products = PRODUCTS.list
const limitsOf = (schema: { properties: { limit: object } }) => schema.properties.limit as { maximum: number }
const { minimum, maximum } = defineFeedbackRequest(products).properties.rating as unknown as Record<
  string,
  number
>

const upTo = (last: number, first: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

test.each<[module: string, name: string, known: readonly unknown[]]>([
  ['operations/releases', 'STATES', RELEASE_STATES],
  ['field/advice', 'REASONS', UNAVAILABLE_REASONS],
  ['account/feedback', 'RATINGS', upTo(maximum as number, minimum as number).map(String)],
])('%s has in %s all that the schemas have', (module, name, known) => {
  expect([...(constantOf(module, name) as unknown[])].sort()).toEqual([...known].sort())
})

test.each<[module: string, name: string, most: number]>([
  ['geo/areas', 'PAGE', MOST_FEATURES],
  ['table/values', 'MOST_AREAS', MOST_FEATURES],
  ['points/batches', 'POINTS_A_CALL', BATCH_LIMITS.anonymous],
  ['account/history-main', 'ITEMS_A_PAGE', limitsOf(defineHistoryQuery(products)).maximum],
  ...[AdminQuery, defineCoverageQuery(products), defineReleasesQuery(products)].map(
    (schema): [string, string, number] => ['account/session', 'LIMIT', limitsOf(schema).maximum],
  ),
])('%s asks with %s for no more than the service gives, %i', (module, name, most) => {
  expect(constantOf(module, name)).toBeGreaterThan(0)
  expect(constantOf(module, name)).toBeLessThanOrEqual(most)
})

test('the filters of the history are parameters of its list', () => {
  const parameters = Object.keys(defineHistoryQuery(products).properties)
  expect(parameters).toEqual(
    expect.arrayContaining([...(constantOf('account/history-main', 'FILTERS') as string[])]),
  )
})
