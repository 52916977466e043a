import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { recorderOn, recordOf } from '#test/history/advisories.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { operatorOf } from './operator.ts'

// Runs on a server alone: how old what is in memory gets is the same on both.

/** Another country may take so long to be seen. */
const FRESH_MS = 400

const DODOMA = { lat: -6.17, lng: 35.74 }

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: String(FRESH_MS) } })

test('a country that is added, renamed and removed is seen within RELEASE_MAX_AGE_MS', async () => {
  const { app, database } = service
  const operator = operatorOf(database)

  const shown = {
    async reason(): Promise<string> {
      const payload = { ...DODOMA, country_code: 'tza' }
      return (await call(app, 'POST /advisory/forage/point', { payload })).body.error
    },
    async places(): Promise<string | undefined> {
      const { info } = (await call(app, 'GET /openapi.json')).body
      return /places in (.*):/.exec(info.description)?.[1]
    },
  }

  /** Asks until what is shown is new. Until then it is as it was before, for so long at most. */
  async function seen(before: Record<keyof typeof shown, string>, after: typeof before): Promise<void> {
    const changed = performance.now()
    for (const what of ['reason', 'places'] as const) {
      for (let found: string | undefined; found !== after[what]; ) {
        const asked = performance.now()
        found = await shown[what]()
        const expected = asked - changed < FRESH_MS ? [before[what], after[what]] : [after[what]]
        expect(expected).toContain(found)
      }
    }
  }

  const nowhere = {
    reason: 'country_code must be one of eth, gha, ken, rwa.',
    places: 'Ethiopia, Rwanda, Kenya or Ghana',
  }
  const named = (name: string) => ({
    reason: `No forage suitability scores for ${name} have been published yet.`,
    places: `Ethiopia, Rwanda, Kenya, Ghana or ${name}`,
  })
  expect([await shown.reason(), await shown.places()]).toEqual(Object.values(nowhere))
  await operator.addCountry('tza', 'Tanganyika')
  await seen(nowhere, named('Tanganyika'))
  await operator.renameCountry('tza', 'Tanzania')
  await seen(named('Tanganyika'), named('Tanzania'))
  await operator.removeCountry('tza')
  await seen(named('Tanzania'), nowhere)
})

test('a country or crop that histories name stays while there are items, which are counted as far as that says something', async () => {
  const { database, person } = service
  const { writer } = database
  const operator = operatorOf(database)
  await operator.addCountry('tza', 'Tanzania')
  await operator.addCrop('millet', 'Millet')
  await operator.addCrop('fonio', 'Fonio')
  const record = recordOf(person, { countryCode: 'tza', cropCode: 'millet', releases: [] })
  const refusal = (code: string, items: string) =>
    `${code} cannot be removed while these refer to it: ${items} of histories.`
  await recorderOn(writer)(record)
  await expect(operator.removeCountry('tza')).rejects.toThrow(refusal('tza', '1 item'))
  await expect(operator.removeCrop('millet')).rejects.toThrow(refusal('millet', '1 item'))
  await sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select
      (left(id::text, 18) || right(gen_random_uuid()::text, 18))::uuid,
      user_id, template_id, bytes, subject_id, crop_code, request, answer
    from history_item, generate_series(1, 998)`.execute(writer)
  await expect(operator.removeCountry('tza')).rejects.toThrow(refusal('tza', '999 items'))
  await recorderOn(writer)(record)
  await expect(operator.removeCrop('millet')).rejects.toThrow(refusal('millet', '1000 or more items'))
  expect((await operator.removeCrop('fonio')).code).toBe('fonio')
  await sql`delete from history_item`.execute(writer)
  expect((await operator.removeCountry('tza')).code).toBe('tza')
  expect((await operator.removeCrop('millet')).code).toBe('millet')
})
