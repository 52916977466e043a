import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { withdrawRelease } from '#src/catalog/removal-queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { ChangeEntry, ChangeFeed } from '#src/extensions/changes/schemas.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { rollBackChecked } from '#src/ingest/publish.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { onePixelRelease, operatorOf } from '#test/setup/releases.ts'

const service = openService()

test('each way of changing what is answered has its entry, the newest last, and no other has one', async () => {
  const { writer } = service.database
  const { next_since } = await changes('?limit=1000')
  const { publish: publishAgain, remove } = operatorOf(service.database)
  const { code: one } = await publish(1)
  const { code: two } = await publish(2)
  await inTransaction(writer, (trx) => rollBackChecked(trx, two, { allow: ['extent', 'range'] }))
  await remove(two)
  // It never answered anybody.
  const { code: never } = await loadRelease(service.database, releaseOf(3), { publish: false })
  await remove(never)
  await publishAgain(one)
  await sql`update publication set previous_release_id = null where forecast_period = '2026-09-01'`.execute(
    writer,
  )
  await inTransaction(writer, (trx) => withdrawRelease(trx, one))
  await publishAgain(one)
  await remove(one, true)

  const { items, ...rest } = await changes(`?since=${next_since}`)
  const expected = [
    ['published', one, null],
    ['published', two, one],
    ['rolled_back', one, two],
    ['deleted', two, null],
    ['withdrawn', one, null],
    ['published', one, null],
    ['deleted', one, null],
  ]
  expect(items.map(({ kind, release, replaced }) => [kind, release, replaced])).toEqual(expected)
  const { id: _, at, ...first } = items[0] as ChangeEntry
  expect(at).toMatch(/^\d{4}-\d\d-\d\dT/)
  expect(first).toEqual({
    ...{ kind: 'published', release: one, replaced: null, product: 'fertilizer', country_code: 'eth' },
    ...{ crop: 'wheat', forecast_month: '2026-09', synthetic: false, level: null },
  })
  expect(rest).toEqual({ next_since: items.at(-1)?.id, more: false })
  const ids = items.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test('page by page nothing is missed and nothing comes twice, and who has the answer gets a 304', async () => {
  const { items: all, more } = await changes('?limit=1000')
  expect(more).toBe(false)
  const first = await get()
  expect(first.headers['cache-control']).toBe('private, no-cache')
  expect(await get('', { 'if-none-match': first.headers.etag })).toMatchObject({ status: 304, text: '' })
  // The demo publishes releases and loads boundaries of four countries.
  expect(new Set(all.map(({ kind }) => kind))).toContain('boundaries_loaded')
  const paged: ChangeEntry[] = []
  for (let page = await changes('?limit=7'); ; page = await changes(`?limit=7&since=${page.next_since}`)) {
    paged.push(...page.items)
    if (!page.more) break
  }
  expect(paged).toEqual(all)
  const end = all.at(-1)?.id
  expect(await changes(`?since=${end}`)).toEqual({ items: [], next_since: end, more: false })
})

test('who knows an entry that there is not is refused, and does not wait for it', async () => {
  const { id } = await newest()
  for (const form of ['', '&format=atom']) {
    const message = `since must be at most ${id}, the id of the newest entry: leave it out and begin again, where a backup was restored`
    const { status, body } = await get(`?since=${id + 1}${form}`)
    expect([status, body.details]).toEqual([400, [{ field: 'since', message }]])
  }
})

test('the same as a feed of Atom, the newest first, with what XML would misread escaped', async () => {
  await inTransaction(service.database.writer, (trx) =>
    recordOperation(trx, { kind: 'boundaries_loaded', detail: { country: 'r&<"', level: 3, areas: 416 } }),
  )
  const entry = await newest()
  const host = 'advice.example.org:8443'
  const { headers, text } = await get('?limit=2', { accept: 'application/atom+xml', host })
  expect(headers['content-type']).toBe('application/atom+xml; charset=utf-8')
  expect(text).toContain('<title>Boundaries of level 3 were loaded for R&amp;&lt;&quot;</title>')
  expect(text).toContain(`<id>tag:advice.example.org,2026-11-23:changes/${entry.id}</id>`)
  expect(text).toContain(`href="http://${host}/changes?limit=2"`)
  expect(text.match(/<entry>/g)).toHaveLength(2)
  const byFormat = await get('?format=atom&limit=2', { host })
  expect(byFormat.text.replace('format=atom&amp;', '')).toBe(text)
})

testOnServer('an entry shows when all with smaller ids do: those who note wait for each other', async () => {
  const { writer } = service.database
  const { next_since } = await changes('?limit=1000')
  const note = (level: number) => ({
    kind: 'boundaries_loaded' as const,
    detail: { country: 'ken', level, areas: 1 },
  })
  let later: Promise<void> | undefined
  await writer.transaction().execute(async (trx) => {
    await recordOperation(trx, note(1))
    later = writer.transaction().execute((other) => recordOperation(other, note(2)))
    const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted and objid = 7239460`
    await vi.waitFor(async () => expect((await waiting.execute(trx)).rows).toHaveLength(1), PATIENCE)
    expect((await changes(`?since=${next_since}`)).items).toEqual([])
  })
  await later
  const { items } = await changes(`?since=${next_since}`)
  expect(items.map(({ level }) => level)).toEqual([1, 2])
})

const get = (query = '', headers = {}) => service.get(`/changes${query}`, { headers })

async function changes(query = ''): Promise<ChangeFeed> {
  const { status, body } = await get(query)
  expect(status).toBe(200)
  return body
}

async function newest(): Promise<ChangeEntry> {
  return (await changes('?limit=1000')).items.at(-1) as ChangeEntry
}

/** Of a month that nothing of the demo is for. */
const releaseOf = (rate: number) => onePixelRelease({ Urea: rate }, { forecastPeriod: '2026-09-01' })

const publish = (rate: number) => loadRelease(service.database, releaseOf(rate), { publish: true })
