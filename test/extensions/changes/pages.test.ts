// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import type { ReleaseChanges } from '#src/extensions/changes/schemas.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, makeAdmin } from '#test/setup/people.ts'
import { logInAt, openPages } from '#test/web/pages.ts'

describe.skipIf(!CHROMIUM)('the page of admins', () => {
  const { service, visit } = openPages(async () => {
    const made = await createTestAppWithPerson()
    await makeAdmin(made)
    return made
  }, '/operations')

  /** A row of each layer: its means, and what has changed of it. */
  const figuresOf = (layers: ReleaseChanges['layers']) =>
    Object.fromEntries(
      layers.map(({ scenario, mean_before, mean_after, ...changes }) => [
        `all, ${scenario}`,
        [
          ...[mean_before, mean_after, changes.change_percent, changes.changed_percent],
          ...[changes.gained_percent, changes.lost_percent],
        ].map(Number),
      ]),
    )

  test('compares a release that is chosen in its list with another one', async () => {
    const { page } = visit
    await logInAt(page, service.person.email)
    const { releases } = (await service.get('/catalog')).body
    const { release } = releases.find(
      (one: { country_code: string; product: string }) =>
        one.country_code === 'rwa' && one.product === 'yield',
    )
    await page.getByRole('button', { name: `Show ${release}` }).click()
    await page.getByRole('button', { name: 'Compare this release' }).click()
    await page.getByRole('button', { name: 'Compare another one with it' }).click()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    const tables = page.locator('[aria-live]', { hasText: 'All areas together' })
    await tables.waitFor()
    const { layers } = (await service.get(`/releases/${release}/diff/${release}`, { by: service.person }))
      .body
    await expectState(tables, 'comparison', { 'All areas together': figuresOf(layers) })
    expect(visit.complaints).toEqual([])
  })
})
