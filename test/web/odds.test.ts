// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { FERTILIZER, loadRegion, YIELD } from '#test/maps/certain-releases.ts'
import { createTestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { figuresOfClasses } from './figures.ts'
import { allFaultsOf } from './looks.ts'
import { drawn, openPages } from './pages.ts'

const start = () =>
  createTestApp({
    template: 'empty',
    prepare: async (database: Database) => {
      await loadRegion(database)
      await loadRelease(database, YIELD)
      await loadRelease(database, FERTILIZER)
    },
  })

describe.skipIf(!CHROMIUM)('the map of a release with odds and conditions, in a browser', () => {
  const { service, visitors, visit } = openPages(start, '/')

  const hash = () => decodeURIComponent(new URL(visit.page.url()).hash.replaceAll('+', ' '))
  const choose = (name: string, option: string) =>
    visit.page.getByRole('combobox', { name, exact: true }).selectOption(option)
  const legendOf = (title: string) => visit.page.locator('.legend', { hasText: title })

  test('offers odds and the likeliest season, which has four colours, and the address says it', async () => {
    const { page } = visit
    await drawn(page)
    const tile = page.waitForResponse(/\/layers\/most-likely\/tiles\/\d+\/\d+\/\d+$/)
    await choose('Season', 'Most likely season')
    expect((await tile).status()).toBe(200)
    await legendOf('Most likely season').waitFor()
    expect(hash()).toContain('odds=most-likely')
    await drawn(page)
    await expectState(page.locator('main'), 'most-likely')
    expect(await allFaultsOf(page)).toEqual([])
  })

  test('shows odds in percent beside values, and values again', async () => {
    const { page } = visit
    await choose('Season', 'Odds: Normal')
    await legendOf('Odds: Normal').waitFor()
    expect(await page.locator('.legend .ticks').first().innerText()).toBe('0')
    await choose('Compare with', 'Normal')
    await page.locator('.pane.over[data-state="idle"]').waitFor()
    await expectState(page.locator('main'), 'odds-beside-values', {
      'Odds: Normal %': await classesOf('yield', { scenario: 'Normal', role: 'probability' }, 100),
      'Yield, Normal kg/ha': await classesOf('yield', { scenario: 'Normal', role: undefined }),
    })
    await choose('Compare with', 'Nothing')
    await choose('Season', 'Below Normal')
    await legendOf('Yield, Below Normal').waitFor()
    expect(hash()).not.toContain('odds')
  })

  test('asks for the condition of the field where a release has several', async () => {
    const { page } = visit
    await choose('Advice on', 'fertilizer')
    await legendOf('Fertilizer, Urea, Normal').waitFor()
    const tile = page.waitForResponse(/\/layers\/4\/tiles\/\d+\/\d+\/\d+$/)
    await choose('Where on the slope is the field?', 'Hill')
    expect((await tile).status()).toBe(200)
    await legendOf('Fertilizer, Urea, Normal, hill').waitFor()
    expect(hash()).toContain('condition=hill')
    const classes = await classesOf('fertilizer', { layer: 4 })
    await expectState(page.locator('main'), 'condition', { 'Fertilizer, Urea, Normal, hill kg/ha': classes })
    expect(visit.complaints).toEqual([])
  })

  test('tables of areas have the means of the condition', async () => {
    const { page } = visit
    await page.getByText('Table', { exact: true }).click()
    await page.locator('.sheet tbody tr').first().waitFor()
    expect(await page.locator('.sheet tbody td').allInnerTexts()).toContain('90.5')
    const districts = await visitors.open('/districts#product=fertilizer&country=eth&level=1')
    await districts.page.locator('tbody tr').first().waitFor()
    expect(await districts.page.locator('.sheet tbody td').allInnerTexts()).toContain('65.5')
    await districts.page.getByLabel('Condition').selectOption('mid slope')
    expect(await districts.page.locator('.sheet tbody td').allInnerTexts()).toContain('70.5')
    expect(await districts.page.locator('.legend h2').innerText()).toBe(
      'Fertilizer, Urea, Normal, mid slope kg/ha',
    )
    expect(districts.page.url()).toContain('condition=mid')
    expect(districts.complaints).toEqual([])
    await districts.close()
  })

  /** What the legend has of the classes of a layer, which the API has of it with such members. */
  async function classesOf(product: string, members: Record<string, unknown>, unit = 1) {
    const { releases } = (await service.get('/catalog')).body
    const { release } = releases.find((one: { product: string }) => one.product === product)
    const { layers } = (await service.get(`/releases/${release}/layers`)).body
    const isMeant = (layer: Record<string, unknown>) =>
      Object.entries(members).every(([name, value]) => layer[name] === value)
    const { classes } = layers.find(isMeant)
    const inUnit = (one: { from: number; to: number }) => ({ from: unit * one.from, to: unit * one.to })
    return figuresOfClasses(classes.map(inUnit))
  }
})
