import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { RELEASE_STATES } from '#schemas/catalog.ts'
import { defineFeedbackRequest } from '#schemas/feedback.ts'
import { defineHistoryQuery } from '#schemas/history.ts'
import { UNAVAILABLE_REASONS } from '#schemas/location.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { FEATURE_READERS } from '#src/extensions/fields/reading.ts'

const WEB = 'web'
const MODULES = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.[jt]s$/.test(name),
)

/** The value of a constant of a module of the pages. Modules of pages import nothing of the service. */
function constantOf(module: string, name: string): unknown {
  const file = MODULES.find((one) => one.replace(/\.[jt]s$/, '') === module) as string
  const declared = new RegExp(
    `^(?:export )?const ${name}(?:: [^=]+)? = (.*?)(?: as const)?$(?=\n[^\\s}]|\n\n)`,
    'ms',
  )
  const [, text] = declared.exec(readFileSync(join(WEB, file), 'utf8')) ?? []
  return runInNewContext(`(${text})`)
}

const products = PRODUCTS.list
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

test('the filters of the history are parameters of its list', () => {
  const parameters = Object.keys(defineHistoryQuery(products).properties)
  expect(parameters).toEqual(
    expect.arrayContaining([...(constantOf('account/history-main', 'FILTERS') as string[])]),
  )
})

test('files of fields are sent with the media types that are read', () => {
  const types = constantOf('account/fields', 'MEDIA_TYPES') as Record<string, string>
  expect(Object.values(types).sort()).toEqual(Object.keys(FEATURE_READERS).sort())
})
