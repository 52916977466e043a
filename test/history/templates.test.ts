import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'
import { history, recorderOn, recordOf } from './advisories.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const COUNTRY = 'xyz'

/** Loses the templates of a country, and gives the number of their subject to another one, if any. */
async function lose(replacement?: string): Promise<void> {
  const db = service.database.writer
  const { rows } = await sql<{ id: number }>`
    select id from history_subject where country_code = ${COUNTRY}`.execute(db)
  const id = rows[0]?.id
  await sql`delete from answer_template where subject_id = ${id}`.execute(db)
  if (!replacement) return
  await sql`delete from history_subject where id = ${id}`.execute(db)
  await sql`
    insert into history_subject (id, product, kind, country_code) overriding system value
    values (${id}, 'yield', 'point', ${replacement})`.execute(db)
}

test.each([
  ['has lost a template, it is stored again', undefined],
  ['has given the number of its subject to another one, it is not mistaken for that', 'zyx'],
])('where the database %s', async (_name, replacement) => {
  const person = await newPerson(service.app)
  const record = recordOf(person, { countryCode: COUNTRY })
  const keep = recorderOn(service.database.writer)
  await keep(record)
  await lose(replacement)
  const ids = await Promise.all([keep(record), keep(record)])
  ids.push(await keep(record))
  const { items } = (await history(service, person, `my?country_code=${COUNTRY}`)).json()
  const found = items.map(({ id }: { id: string }) => id)
  expect(ids.filter((id) => !found.includes(id))).toEqual([])
  for (const item of items) expect(item.releases).toEqual(record.releases)
})

test('the id of a template follows from what is in it', async () => {
  const db = service.database.writer
  const idOf = async (pieces: string) =>
    (
      await sql<{ id: string }>`
        select template_id::text as id
        from answer_template_of('yield', 'point', 'eth', 'wheat', '{a-release}', ${[pieces, '}']}::text[])`.execute(
        db,
      )
    ).rows[0]?.id
  const first = await idOf('{"a":')
  const other = await idOf('{"b":')
  expect(other).not.toBe(first)
  await sql`delete from answer_template where releases = '{a-release}'`.execute(db)
  expect([await idOf('{"b":'), await idOf('{"a":')]).toEqual([other, first])
})
