// Runs on either database: the embedded one has one connection, and so no locks to wait for; test/http/document-answers.test.ts has it do the sums.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ACCOUNT_LIMITS } from '#src/accounts/account-data.ts'
import { addErrors } from '#src/errors.ts'
import {
  createDraft,
  deleteCollection,
  dropDraft,
  insertFields,
  keepDraft,
  listFields,
  type NewField,
  removeFieldPiece,
} from '#src/extensions/fields/queries.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'

const service = openService({ settings: { SLOW_CLIENT_MS: '1500' } })

/** What an account has on the disk in all: twice its quota. */
const MOST_BYTES = 500_000_000

describe('an account whose disk is full', () => {
  test('because of what it has replaced loses that, and keeps what it sends', async () => {
    const person = await newPerson(service.app)
    await addRow(person, 'gone', MOST_BYTES)
    expect((await put(person, 'new')).body.fields).toBe(1)
    const { rows } = await service.database.pool.query(
      'select name from field_collection where user_id = $1',
      [person.user.id],
    )
    expect(rows).toEqual([{ name: 'new' }])
  })

  test('because of an upload that was cut off loses that, and keeps what it sends', async () => {
    const person = await newPerson(service.app)
    await addRow(person, 'draft', MOST_BYTES)
    await service.database.pool.query(
      "update field_collection set changed_at = now() - interval '4 minutes' where user_id = $1",
      [person.user.id],
    )
    expect((await put(person, 'new')).body.fields).toBe(1)
  })

  test('but for 2,000 bytes has room for a field that is sent 400 times', async () => {
    const person = await newPerson(service.app)
    await addRow(person, 'kept', MOST_BYTES / 2 - 2000)
    const { body } = await put(person, 'new', Array(400).fill(fieldOf('A')))
    expect(body).toMatchObject({ fields: 1, refused: 399 })
  })

  test('because of another upload gets what to wait for, and has what it had', async () => {
    const person = await newPerson(service.app)
    await put(person, 'old')
    await addRow(person, 'draft', MOST_BYTES - 100)
    const { status, headers, body } = await put(person, 'old')
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'OVERLOADED', '60'])
    expect(body.error).toMatch(/^Replaced, deleted and arriving collections of yours fill the disk/)
    const after = await service.get('/fields', { by: person })
    expect(after.body.fields).toBe(1)
  })
})

const QUOTA = { fields: 20, bytes: 3000 }

/** What an account does, with one of three collections and some fields. */
const act = fc.record({
  what: fc.constantFrom('begin', 'add', 'add', 'add', 'keep', 'drop', 'delete', 'remove', 'expire'),
  which: fc.nat(2),
  count: fc.integer({ min: 1, max: 15 }),
})

test('an account has no more rows on the disk than twice its quota, whatever it does in which order', async () => {
  const { writer } = service.database
  const property = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), async (acts) => {
    const userId = (await newPerson(service.app)).user.id
    const drafts: number[] = []
    let made = 0
    const insert = (id: number | undefined, count: number) => {
      const fields = Array.from({ length: count }, () => square(String(made++)))
      return id === undefined ? undefined : insertFields(writer, { id, userId }, fields, QUOTA)
    }
    for (const { what, which, count } of acts) {
      const id = drafts[which]
      if (what === 'begin') drafts[which] = await createDraft(writer, userId, `c${count % 3}`)
      // Two at the same time count each other.
      if (what === 'add') await Promise.all([insert(id, count), insert(drafts[(which + 1) % 3], count)])
      if (what === 'keep' && id !== undefined) {
        await keepDraft(writer, { id, userId }, QUOTA, service.app.config)
      }
      if (what === 'drop' && id !== undefined) await dropDraft(writer, id)
      if (what === 'delete') await deleteCollection(writer, userId, `c${which}`)
      if (what === 'remove') await removeFieldPiece(writer)
      const { rows } = await service.database.pool.query(
        `select
          count(*)::integer as fields,
          coalesce(sum(octet_length(field.id) + 80), 0)::integer as bytes,
          count(*) filter (where state = 'kept')::integer as kept,
          (select sum(fields) from field_collection where user_id = $1)::integer as counted
        from field join field_collection as collection on collection_id = collection.id
        where user_id = $1`,
        [userId],
      )
      const [{ fields, bytes, kept, counted }] = rows
      expect(fields).toBeLessThanOrEqual(2 * QUOTA.fields)
      expect(bytes).toBeLessThanOrEqual(2 * QUOTA.bytes)
      expect(kept).toBeLessThanOrEqual(QUOTA.fields)
      expect(counted ?? 0).toBeGreaterThanOrEqual(fields)
    }
  })
  await fc.assert(property, { numRuns: runsOf(20) })
})

test('a page of large fields has 256 kB and one field at most, with their properties', async () => {
  const { writer } = service.database
  const userId = service.person.user.id
  const id = await createDraft(writer, userId, 'pages')
  const fields = Array.from({ length: 200 }, (_, index) =>
    square(`F-${index}`, JSON.stringify('x'.repeat(3998))),
  )
  await insertFields(writer, { id, userId }, fields, { fields: 1000, bytes: 1e9 })
  const page = await listFields(writer, id, { place: -1, id: '' }, 1000)
  expect(page.length).toBeGreaterThan(10)
  expect(page.length * 4000).toBeLessThanOrEqual(260_000)
})

test('a limit of collections counts what an account has, without drafts and what was replaced', async () => {
  const code = 'TOO_MANY_COLLECTIONS'
  const by = await newPerson(service.app)
  addErrors({ [code]: { status: 409, meaning: 'Of a test.', example: 'You have 2 collections.' } })
  ACCOUNT_LIMITS[code] = { of: 'collections', most: 2, table: 'field_collection' }
  try {
    for (const name of ['a', 'b', 'b', 'a']) expect((await put(by, name)).status).toBe(200)
    await createDraft(service.database.writer, by.user.id, 'd')
    const { status, body } = await put(by, 'c')
    expect([status, body.code, body.details[0].code]).toEqual([409, code, 'LIMIT_REACHED'])
    await service.delete('/fields/b', { by })
    expect((await put(by, 'c')).status).toBe(200)
  } finally {
    delete ACCOUNT_LIMITS[code]
  }
})

const put = (by: Person, name: string, fields: object[] = [fieldOf('A')]) =>
  keepFields(service, name, fields, { by })

const addRow = (by: Person, state: string, bytes: number) =>
  service.database.pool.query(
    "insert into field_collection (user_id, name, state, bytes) values ($1, 'large', $2, $3)",
    [by.user.id, state, bytes],
  )

const square = (id: string, properties: string | null = null): NewField => ({
  ...{ id, properties, name: null, longitude: 38.5, latitude: 9.5, areaHa: 1 },
  polygons: [[Float64Array.of(38.5, 9.5, 38.501, 9.5, 38.501, 9.501, 38.5, 9.501, 38.5, 9.5)]],
})
