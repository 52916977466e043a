import { expect, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { newPerson } from '#test/setup/people.ts'

const province = (name: string) => feature({ code: 'A', name }, rectangle(29.5, -2.5, 30, -1.5))
const district = feature({ code: 'A1', name: 'D', parent_code: 'A' }, rectangle(29.5, -2, 30, -1.5))

test('an answer gets another tag when its areas are loaded anew, or those above them', async () => {
  const service = await createTestApp({
    template: 'empty',
    settings: { RELEASE_MAX_AGE_MS: '0' },
    prepare: async (database) => {
      await loadFile(database, await boundaryFile([province('Before')]), 'rwa', 1)
      await loadFile(database, await boundaryFile([district]), 'rwa', 2)
    },
  })
  const { app, database } = service
  const { headers } = await newPerson(app)
  const tagOf = async (level: number) =>
    (await app.inject({ url: `/admin?admin0=rwa&level=${level}`, headers })).headers.etag
  const before = [await tagOf(1), await tagOf(2)]
  await loadFile(database, await boundaryFile([province('After')]), 'rwa', 1)
  const between = [await tagOf(1), await tagOf(2)]
  await loadFile(database, await boundaryFile([district]), 'rwa', 2, { source: 'Another' })
  const after = [await tagOf(1), await tagOf(2)]
  await service.close()
  expect(between[0]).not.toBe(before[0])
  expect(between[1]).not.toBe(before[1])
  expect(after[0]).toBe(between[0])
  expect(after[1]).not.toBe(between[1])
})
