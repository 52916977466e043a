import { expect, test } from 'vitest'
import type { RegionStatistics } from '#src/advice/polygon/advisors.ts'
import type { AreaRow } from '#src/catalog/area-queries.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { createAreas, type RequestContext } from '#src/standards/areas.ts'

// Needs no database: what is late is made so.

const late = () => new ApiError('OVERLOADED', 'The service is busy.')
const NEVER = 3
const LATER = Number.POSITIVE_INFINITY

const AREAS = ['A', 'B', 'C'].map((code) => ({ code, level: 1, version: 'v' }) as AreaRow)

/** Statistics that are computed, until that of one area fails. */
function areasWith(failing: number, error: Error, versions = 'vvv') {
  const compute = (at: number) => async () => {
    if (at === failing) throw error
    return [at]
  }
  const find = async () =>
    [...versions].map((version, at) => ({ version, stored: () => null, compute: compute(at) }))
  return createAreas(
    { database: {} } as unknown as App,
    { find, columnsOf: () => ['mean'] } as unknown as RegionStatistics,
  )
}

function contextOf() {
  const headers = new Map([['etag', '"a"']])
  const reply = {
    removeHeader: (name: string) => headers.delete(name) && reply,
    header: (name: string, value: string) => headers.set(name, value) && reply,
  }
  const context = { reply, inTurn: (read: () => unknown) => read(), pause: async () => {} }
  return { headers, context: context as unknown as RequestContext }
}

const RELEASE = {} as PublishedRelease

test('statistics end where one is late, and the answer is not kept', async () => {
  const { headers, context } = contextOf()
  expect(await areasWith(2, late()).statistics(RELEASE, AREAS, context, LATER)).toEqual([[0], [1]])
  expect([...headers]).toEqual([['cache-control', 'no-store']])
})

test('statistics end after the first where the time is over', async () => {
  const { headers, context } = contextOf()
  expect(await areasWith(NEVER, late()).statistics(RELEASE, AREAS, context, 0)).toEqual([[0]])
  expect(headers.has('etag')).toBe(false)
})

test('statistics that all are there are kept', async () => {
  const { headers, context } = contextOf()
  expect(await areasWith(NEVER, late()).statistics(RELEASE, AREAS, context, LATER)).toHaveLength(3)
  expect(headers.get('etag')).toBe('"a"')
})

test.each([
  ['the first one is late', 0, late(), 'busy'],
  ['one fails otherwise', 2, new Error('a fault'), 'a fault'],
])('the answer is an error where %s', async (_, failing, error, message) => {
  const { context } = contextOf()
  await expect(areasWith(failing, error).statistics(RELEASE, AREAS, context, LATER)).rejects.toThrow(message)
})

test.each(['vvw', 'vv'])(
  'the answer is an error where boundaries are replaced meanwhile (%s)',
  async (versions) => {
    const { context } = contextOf()
    const areas = areasWith(NEVER, late(), versions)
    await expect(areas.statistics(RELEASE, AREAS, context, LATER)).rejects.toThrow('The service is busy')
  },
)
