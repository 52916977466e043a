import { type RawBuilder, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { readUntil } from '#src/data/cancellable.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { failureOf } from './failure.ts'

const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

const opened = openDatabase('empty')

function copy(query: RawBuilder<unknown>, signal = new AbortController().signal) {
  return readUntil(opened.database, signal).copy(query)
}

describe('rows that are copied', () => {
  test('are those of the query, whatever bytes they have, and NULL is null', async () => {
    const rows = await copy(sql`
      select number, case when number = 2 then null else decode(repeat('00ff5c0a', number * 20000), 'hex') end
      from generate_series(1, 4) as number`)
    const bytes = (times: number) => Buffer.from('00ff5c0a'.repeat(times), 'hex')
    const expected = [bytes(20_000), null, bytes(60_000), bytes(80_000)]
    expect(rows.map(([number]) => number?.readInt32BE())).toEqual([1, 2, 3, 4])
    expect(rows.every(([, found], index) => isSame(found, expected[index]))).toBe(true)
  })

  test('are not there where the query fails in the middle, and the connection goes on', async () => {
    const failing = copy(sql`select 1 / (5000 - number) from generate_series(1, 10000) as number`)
    expect((await failureOf(failing)).message).toBe('division by zero')
    expect(await copy(sql`select ${sql.lit('x')}::bytea`)).toEqual([[Buffer.from('x')]])
  })

  test.skipIf(EMBEDDED)('are not waited for any more once the signal is aborted', async () => {
    const controller = new AbortController()
    const copying = copy(sql`select pg_sleep(60)`, controller.signal)
    setImmediate(() => controller.abort(new Error('enough')))
    expect((await failureOf(copying)).message).toBe('enough')
  })
})

function isSame(found: Buffer | null | undefined, expected: Buffer | null | undefined): boolean {
  return found && expected ? found.equals(expected) : found === expected
}
