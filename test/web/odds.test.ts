// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { FERTILIZER, loadRegion, YIELD } from '#test/maps/certain-releases.ts'
import { createTestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
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
  const { visitors, visit } = openPages(start, '/')

  const hash = () => decodeURIComponent(new URL(visit.page.url()).hash.replaceAll('+', ' '))
  const choose = (name: string, option: string) =>
    visit.page.getByRole('combobox', { name, exact: true }).selectOption(option)
  const legendOf = (title: string) => visit.page.locator('.legend', { hasText: title })

  test('offers the likeliest season and odds among the seasons', async () => {
    const { page } = visit
    await drawn(page)
    const options = page.getByRole('combobox', { name: 'Season', exact: true }).locator('option')
    expect(await options.allInnerTexts()).toEqual([
      ...['Normal', 'Above Normal', 'Below Normal'],
      ...['Most likely season', 'Odds: Above Normal', 'Odds: Normal', 'Odds: Below Normal'],
    ])
  })

  test('shows the likeliest season with its four colours, and the address says it', async () => {
    const { page } = visit
    const tile = page.waitForResponse(/\/layers\/most-likely\/tiles\/\d+\/\d+\/\d+$/)
    await choose('Season', 'Most likely season')
    expect((await tile).status()).toBe(200)
    await legendOf('Most likely season').waitFor()
    expect(await page.locator('.legend li').allInnerTexts()).toEqual([
      ...['Above Normal', 'Normal', 'Below Normal', 'No single one'],
    ])
    expect(hash()).toContain('odds=most-likely')
    await drawn(page)
    expect(await allFaultsOf(page)).toEqual([])
  })

  test('shows odds in percent beside values, and values again', async () => {
    const { page } = visit
    await choose('Season', 'Odds: Normal')
    await legendOf('Odds: Normal').waitFor()
    expect(await page.locator('.legend .ticks').first().innerText()).toBe('0')
    expect(await page.locator('.legend li').count()).toBe(10)
    await choose('Compare with', 'Normal')
    await page.locator('.pane.over[data-state="idle"]').waitFor()
    expect(await page.locator('.canvas p').allInnerTexts()).toEqual(['Odds: Normal', 'Normal'])
    expect(await page.locator('.legend h2').allInnerTexts()).toEqual([
      'Odds: Normal %',
      'Yield, Normal kg/ha',
    ])
    await choose('Compare with', 'Nothing')
    await choose('Season', 'Below Normal')
    await legendOf('Yield, Below Normal').waitFor()
    expect(hash()).not.toContain('odds')
  })

  test('asks for the condition of the field where a release has several', async () => {
    const { page } = visit
    await choose('Advice on', 'fertilizer')
    await legendOf('Fertilizer, Urea, Normal').waitFor()
    const options = page.getByRole('combobox', { name: 'Where on the slope is the field?' }).locator('option')
    expect(await options.allInnerTexts()).toEqual([
      'Of each place',
      'Foot slope, deep soil',
      'Mid slope',
      'Hill',
    ])
    const tile = page.waitForResponse(/\/layers\/4\/tiles\/\d+\/\d+\/\d+$/)
    await choose('Where on the slope is the field?', 'Hill')
    expect((await tile).status()).toBe(200)
    await legendOf('Fertilizer, Urea, Normal, hill').waitFor()
    expect(hash()).toContain('condition=hill')
    expect(visit.complaints).toEqual([])
  })
  test('tables of areas have the means of the condition', async () => {
    const { page } = visit
    await page.getByText('Table', { exact: true }).click()
    await page.locator('.areas-table tbody tr').first().waitFor()
    expect(await page.locator('.areas-table tbody td').allInnerTexts()).toContain('90.5')
    const districts = await visitors.open('/districts#product=fertilizer&country=eth&level=1')
    await districts.page.locator('tbody tr').first().waitFor()
    expect(await districts.page.locator('.areas-table tbody td').allInnerTexts()).toContain('65.5')
    await districts.page.getByLabel('Condition').selectOption('mid slope')
    expect(await districts.page.locator('.areas-table tbody td').allInnerTexts()).toContain('70.5')
    expect(await districts.page.locator('.legend h2').innerText()).toBe(
      'Fertilizer, Urea, Normal, mid slope kg/ha',
    )
    expect(districts.page.url()).toContain('condition=mid')
    expect(districts.complaints).toEqual([])
    await districts.close()
  })
})
