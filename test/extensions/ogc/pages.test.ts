import { expect, test } from 'vitest'
import type { RegionStatistics } from '#src/advice/region-statistics.ts'
import type { AreaRow } from '#src/catalog/area-queries.ts'
import { ApiError } from '#src/errors.ts'
import type { ReadContext } from '#src/extensions/ogc/api.ts'
import { createAreas } from '#src/extensions/ogc/areas.ts'
import type { App } from '#src/http/app.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'

// Needs no database: what is late is made so.

const NEVER = 3
const CACHED = { etag: '"a"' }
const NOT_CACHED = { 'cache-control': 'no-store' }

test('statistics end where one is late or the time is over, and such an answer is not cached', async () => {
  expect(await ask(NEVER)).toEqual([[[0], [1], [2]], CACHED])
  expect(await ask(2)).toEqual([[[0], [1]], NOT_CACHED])
  expect(await ask(NEVER, { until: 0 })).toEqual([[[0]], NOT_CACHED])
})

test.each([
  ['the first statistic is late', 0, {}, 'busy'],
  ['a statistic fails otherwise', 2, { error: new Error('a fault') }, 'a fault'],
  ['boundaries are replaced meanwhile', NEVER, { versions: 'vvw' }, 'busy'],
  ['areas are deleted meanwhile', NEVER, { versions: 'vv' }, 'busy'],
])('the answer is an error where %s', async (_, failing, options, message) => {
  await expect(ask(failing, options)).rejects.toThrow(message)
})

const LATE = new ApiError('OVERLOADED', 'The service is busy.')

const AREAS = ['A', 'B', 'C'].map((code) => ({ code, level: 1, version: 'v' }) as AreaRow)

/** Statistics of three areas that are computed, until that of one fails. */
async function ask(failing: number, { error = LATE as Error, versions = 'vvv', until = Infinity } = {}) {
  const compute = (at: number) => async () => {
    if (at === failing) throw error
    return [at]
  }
  const find = async () =>
    [...versions].map((version, at) => ({ version, stored: () => null, compute: compute(at) }))
  const figures = { find, columnsOf: () => ['mean'] } as unknown as RegionStatistics
  const headers = new Map(Object.entries(CACHED))
  const reply = {
    removeHeader: (name: string) => headers.delete(name) && reply,
    header: (name: string, value: string) => headers.set(name, value) && reply,
  }
  const exchange = { reply, withDatabasePermit: (read: () => unknown) => read() }
  const context = { exchange, pause: async () => {} }
  const areas = createAreas({ database: {} } as unknown as App, figures)
  const release = {} as PublishedRelease
  const found = await areas.statistics(release, AREAS, context as unknown as ReadContext, until)
  return [found, Object.fromEntries(headers)]
}
