import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { operatorOf } from './operator.ts'

// Runs on a server alone: how old what is in memory gets is the same on both.

/** Another country may take so long to be seen. */
const FRESH_MS = 2000

const DODOMA = { lat: -6.17, lng: 35.74 }

test('a country that is added, renamed and removed is seen within two seconds', async () => {
  const { app, database, close } = await createTestApp({ template: 'empty' })
  onTestFinished(close)
  const operator = operatorOf(database)

  async function shown() {
    const point = { ...DODOMA, country_code: 'tza' }
    const reason = await app.inject({ method: 'POST', url: '/advisory/forage/point', payload: point })
    const { info } = (await app.inject('/openapi.json')).json()
    const place = /places in (.*):/.exec(info.description)?.[1]
    return { reason: reason.json().error as string, place }
  }

  /** Asks until all of it is new. Whatever is not is as it was before, for two seconds at most. */
  async function seen(after: Awaited<ReturnType<typeof shown>>): Promise<void> {
    const changed = performance.now()
    const before = await shown()
    for (;;) {
      const asked = performance.now()
      const now = await shown()
      const expected = asked - changed < FRESH_MS ? [before, after] : [after]
      expect(expected.map(({ reason }) => reason)).toContain(now.reason)
      expect(expected.map(({ place }) => place)).toContain(now.place)
      if (now.reason === after.reason && now.place === after.place) return
    }
  }

  const nowhere = {
    reason: 'country_code must be one of eth, gha, ken, rwa.',
    place: 'Ethiopia, Rwanda, Kenya or Ghana',
  }
  expect(await shown()).toEqual(nowhere)
  await operator.addCountry('tza', 'Tanganyika')
  await seen({
    reason: 'No forage suitability scores for Tanganyika have been published yet.',
    place: 'Ethiopia, Rwanda, Kenya, Ghana or Tanganyika',
  })
  await operator.renameCountry('tza', 'Tanzania')
  await seen({
    reason: 'No forage suitability scores for Tanzania have been published yet.',
    place: 'Ethiopia, Rwanda, Kenya, Ghana or Tanzania',
  })
  await operator.removeCountry('tza')
  await seen(nowhere)
})
