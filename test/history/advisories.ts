import type { Kysely } from 'kysely'
import type { HistoryItem, HistoryList } from '#schemas/history.ts'
import { loadConfig } from '#src/config.ts'
import type { Database } from '#src/data/database.ts'
import type { Tables } from '#src/data/tables.ts'
import type { AdvisoryRecord } from '#src/history/keep-answer.ts'
import { createHistoryRecorder, readQuota } from '#src/history/recorder.ts'
import type { App } from '#src/http/app.ts'
import { createUuidMaker } from '#src/lib/uuid.ts'
import type { TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
import type { Person } from '#test/setup/people.ts'

/** A record to keep, of an advisory for a point unless something else is said. */
export function recordOf(person: Person, changes: Partial<AdvisoryRecord> = {}): AdvisoryRecord {
  return {
    userId: person.user.id,
    kind: 'point',
    product: 'yield',
    countryCode: 'eth',
    cropCode: 'wheat',
    releases: ['yield-eth-wheat-2026-07-v1'],
    request: { lat: 9.5, lng: 38.5 },
    answer: {
      location: { name: 'Point', lat: 9.5, lng: 38.5, type: 'point' },
      forecast_period: 'July 2026',
      yield_data: [{ scenario: 'Normal', yield_kg_ha: 2464 }],
    },
    ...changes,
  }
}

/**
 * What keeps advisories, and shortens no history.
 *
 * @param clock says when they are given
 */
export function recorderOn(
  db: Kysely<Tables>,
  clock: () => number = Date.now,
): (record: AdvisoryRecord) => Promise<string> {
  const newId = () => createUuidMaker(clock)()
  const { record } = createHistoryRecorder(db, readQuota(loadConfig({})), () => {}, undefined, newId)
  return async (advisory) => (await record(advisory)) as string
}

/** Keeps advisories, as if they had been given at some times. */
export async function keepAt(service: TestApp, records: [AdvisoryRecord, time: Date][]): Promise<string[]> {
  const times = records.map(([, time]) => time.getTime())
  const keep = recorderOn(service.database.writer, () => times.shift() as number)
  // Templates are there after the first of them: from then on ids are made in the order of the records.
  const ids: string[] = []
  for (const [record] of records) ids.push(await keep(record))
  return ids
}

export async function whileAway(
  { writer }: Pick<Database, 'writer'>,
  table: string,
  work: () => Promise<unknown>,
): Promise<void> {
  await writer.schema.alterTable(table).renameTo('elsewhere').execute()
  await work().finally(() => writer.schema.alterTable('elsewhere').renameTo(table).execute())
}

/** A request for advice: at a point, within a polygon or an area. */
export function advise(
  { app }: Pick<TestApp, 'app'>,
  { headers }: Pick<Person, 'headers'>,
  path: string,
  payload: object = { lat: 9.5, lng: 38.5 },
) {
  return call(app, `POST /advisory/${path}`, { headers, payload })
}

export function rate({ app }: Pick<TestApp, 'app'>, { headers }: Person, id: string, payload: object) {
  return call(app, `POST /history/${id}/feedback`, { headers, payload })
}

export async function history(
  service: TestApp,
  { headers }: Pick<Person, 'headers'>,
  path: string,
  accept?: string,
) {
  return service.get(`/history/${path}`, { headers: { ...headers, ...(accept && { accept }) } })
}

export async function allPages(
  service: TestApp,
  person: Person,
  query: Record<string, string> = {},
  afterPage: (cursor: string | null) => Promise<unknown> = async () => {},
): Promise<HistoryItem[]> {
  const items: HistoryItem[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const parameters = new URLSearchParams({ ...query, ...(cursor && { cursor }) })
    const response = await history(service, person, `my?${parameters}`)
    if (response.status !== 200) throw new Error(response.text)
    const page: HistoryList = response.body
    items.push(...page.items)
    cursor = page.next_cursor
    await afterPage(cursor)
  }
  return items
}

/** The numbers of advisories that a service has kept and lost. */
export function outcomesOf({ metrics }: App): Record<string, number> {
  const samples =
    metrics
      .readers()
      .get('agro_history_items_total')
      ?.flatMap((read) => read()) ?? []
  return Object.fromEntries(samples.map(({ labels, value }) => [labels.outcome, value]))
}
