import { expect, test } from 'vitest'
import { RELEASE_STATES } from '#schemas/catalog.ts'
import { defineFeedbackRequest } from '#schemas/feedback.ts'
import { defineHistoryQuery } from '#schemas/history.ts'
import { UNAVAILABLE_REASONS } from '#schemas/location.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { constantOf } from '#test/setup/page-constants.ts'

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
