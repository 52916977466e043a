import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addEntry, removeEntry } from '#src/catalog/reference-change-queries.ts'
import { COUNTRIES, CROPS } from '#src/catalog/reference-queries.ts'
import { recorderOn, recordOf } from '#test/history/advisories.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ template: 'empty' })
  await service.database.writer.transaction().execute(async (trx) => {
    await addEntry(trx, COUNTRIES, 'tza', 'Tanzania')
    await addEntry(trx, CROPS, 'millet', 'Millet')
    await addEntry(trx, CROPS, 'fonio', 'Fonio')
  })
})
afterAll(() => service.close())

const remove = (...args: [typeof COUNTRIES, string]) =>
  service.database.writer.transaction().execute((trx) => removeEntry(trx, ...args))

const refusal = (code: string, items: string) =>
  `${code} cannot be removed while these refer to it: ${items} of histories.`

describe('a country or crop that histories name', () => {
  test('stays while there are items, which are counted as far as they say something', async () => {
    const { writer } = service.database
    await recorderOn(writer)(
      recordOf(service.person, { countryCode: 'tza', cropCode: 'millet', releases: [] }),
    )
    await expect(remove(COUNTRIES, 'tza')).rejects.toThrow(refusal('tza', '1 item'))
    await expect(remove(CROPS, 'millet')).rejects.toThrow(refusal('millet', '1 item'))
    await sql`
      insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
      select
        (left(id::text, 18) || right(gen_random_uuid()::text, 18))::uuid,
        user_id, template_id, bytes, subject_id, crop_code, request, answer
      from history_item, generate_series(1, 998)`.execute(writer)
    await expect(remove(COUNTRIES, 'tza')).rejects.toThrow(refusal('tza', '999 items'))
    await recorderOn(writer)(recordOf(service.person, { countryCode: 'tza', cropCode: 'millet' }))
    await expect(remove(CROPS, 'millet')).rejects.toThrow(refusal('millet', '1000 or more items'))
    expect((await remove(CROPS, 'fonio')).code).toBe('fonio')

    await sql`delete from history_item`.execute(writer)
    expect((await remove(COUNTRIES, 'tza')).code).toBe('tza')
    expect((await remove(CROPS, 'millet')).code).toBe('millet')
  })
})
