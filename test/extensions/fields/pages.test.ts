// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, PASSWORD } from '#test/setup/people.ts'
import { onePixelRelease } from '#test/setup/releases.ts'
import { rectangle, ringOf } from '#test/setup/square.ts'
import { allFaultsOf } from '#test/web/looks.ts'
import { drawn, openPages, PHONE, savedBy, unfold, until } from '#test/web/pages.ts'

/** Fields of a hectare in rows, of which the one in the middle is that in the middle of a map. */
const SIDE = 11
const FEATURES = Array.from({ length: SIDE * SIDE }, (_, index) => {
  const [west, south] = [38.5 + 0.003 * (index % SIDE), 9.5 + 0.003 * Math.floor(index / SIDE)]
  return {
    type: 'Feature',
    id: `UPI/${index}`,
    geometry: rectangle(west, south, west + 0.001, south + 0.001),
    properties: { name: `Plot ${index}` },
  }
})
const MIDDLE = FEATURES[60] as (typeof FEATURES)[number]

const crossing = ringOf('38.5 9.5, 38.501 9.501, 38.501 9.5, 38.5 9.501, 38.5 9.5')
const WRONG = { ...MIDDLE, id: 'bow tie', geometry: { type: 'Polygon', coordinates: [crossing] } }

describe.skipIf(!CHROMIUM)('the pages of saved fields, in a browser', () => {
  const { service, visitors, visit } = openPages(
    () => createTestAppWithPerson({ settings: { RELEASE_MAX_AGE_MS: '0' } }),
    '/account/fields#collection=Coop-7',
  )

  test('ask for a login first, and say that a collection is not there', async () => {
    const { page } = visit
    await page.getByText('Saved fields belong to an account.').waitFor()
    await page.getByLabel('E-mail').fill(service.person.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('You have no collection of fields with this name.').waitFor()
    expect(visit.complaints.splice(0, 1)).toEqual([expect.stringContaining('status of 404')])
  })

  test('show how much of a file is sent, and leave all as it was where that is stopped', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/account`)
    await page.getByText('There are no fields.').waitFor()
    await unfold(page, 'Add a collection')
    const network = await page.context().newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 20_000 }
    await network.send('Network.emulateNetworkConditions', slow)
    await choose(
      'slow.ndjson',
      FEATURES.map((feature) => JSON.stringify(feature))
        .join('\n')
        .repeat(10),
    )
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.getByText(/^[\d.]+ kB of \d+ kB sent$/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped. The collection is as it was.').waitFor()
    await network.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })
    await network.detach()
    expect((await asked('')).body.items).toEqual([])
  })

  test('keep the fields of a file, and list those that are refused with their reasons', async () => {
    const { page } = visit
    await page.reload()
    await page.getByText('There are no fields.').waitFor()
    await unfold(page, 'Add a collection')
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.locator('[name=file][aria-invalid=true]:focus').waitFor()
    expect(await page.locator('.drop [role=alert]').innerText()).toBe('Choose a file first.')
    await choose('fields.shp', '')
    await page.getByText('Take a file that ends in').waitFor()
    await choose('Coop 7.geojson', collectionOf([...FEATURES, WRONG, MIDDLE]))
    expect(await page.getByLabel('Name of the collection').inputValue()).toBe('Coop-7')
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.getByText('Fields: 121 kept, 2 refused.').waitFor()
    await page.getByText(/^In all 121 of 500,000 fields, [\d.]+ kB of 250 MB\.$/).waitFor()
    const refused = { 'Refused fields': { '122, bow tie': [38.5005, 9.5005] } }
    await expectState(page.locator('table', { hasText: 'Refused fields' }), 'refused', refused)
    await expectState(page.locator('.item', { hasText: 'Coop-7' }), 'kept')
    const stored = (await asked('/Coop-7', 'application/geo+json')).body.features
    expect(stored.map(({ id }: { id: string }) => id).sort()).toEqual(FEATURES.map(({ id }) => id).sort())
  })

  test('replace a collection where that is confirmed, and say why a file is refused as a whole', async () => {
    const { page } = visit
    await choose('again.csv', 'id,name\r\n1,a\r\n')
    page.once('dialog', (dialog) => dialog.dismiss())
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    page.once('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.locator('.drop [role=alert]', { hasText: 'wkt' }).waitFor()
    expect(visit.complaints.splice(0, 1)).toEqual([expect.stringContaining('status of 400')])
    // It is answered before it has arrived.
    await choose('again.json', `{"more":"${'x'.repeat(20_000_000)}"}`)
    page.once('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.locator('.drop [role=alert]', { hasText: '65536' }).waitFor()
    expect(visit.complaints.splice(0, 1)).toEqual([expect.stringContaining('status of 400')])
    await page.getByLabel('Name of the collection').fill('a/b')
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.locator('[name=collection][aria-invalid=true]:focus').waitFor()
    expect(visit.complaints.splice(0, 1)).toEqual([expect.stringContaining('status of 400')])
    expect((await asked('')).body.fields).toBe(121)
  })

  test('show the values of a collection in a table, as the API has them, and as files', async () => {
    const { page } = visit
    await page.getByRole('link', { name: 'Coop-7', exact: true }).click()
    await page.locator('tbody tr').first().waitFor()
    await page.getByText('Page 1 of 5').waitFor()
    const { items } = (await asked('/Coop-7/advice?product=yield')).body
    const [first] = items
    const shown = items.slice(0, 25).map((item: Item) => [`Show ${item.id} on the map`, numbersOf(item)])
    await expectState(page.locator('main table'), 'values', {
      'Means of the fields, in kg/ha': Object.fromEntries(shown),
    })
    const buttons = page.locator('.actions').getByRole('button')
    for (const [name, type] of [
      ['Download as CSV', 'text/csv'],
      ['Download as GeoJSON', 'application/geo+json'],
    ] as const)
      expect(await savedBy(buttons.filter({ hasText: name }))).toBe(
        (await asked(`/Coop-7/advice?product=yield&release=${first.release}`, type)).text,
      )
  })

  test('show them on a map by a layer that is chosen; a click on a field tells its value', async () => {
    const { page } = visit
    await clickMiddle()
    const { items } = (await asked('/Coop-7/advice?product=yield')).body
    const item = items.find(({ id }: { id: string }) => id === MIDDLE.id)
    const [field, value] = (await summary().innerText()).split('\n')
    expect(field).toBe(`UPI/60, Plot 60, ${item.location.area_ha} ha`)
    expect(value).toBe(`Yield, Normal: ${valueIn(item, 'Normal').toLocaleString('en')} kg/ha`)
    await page.getByLabel('Season').selectOption('Below Normal')
    expect(await page.locator('.legend h2').innerText()).toBe('Yield, Below Normal kg/ha')
    expect(new URL(page.url()).hash).toContain('scenario=Below+Normal')
    await page
      .getByRole('button', { name: 'Show UPI/60 on the map' })
      .or(page.locator('tbody button'))
      .first()
      .click()
    await drawn(page)
    await summary().getByRole('link', { name: 'Advice for this field' }).click()
    await page.getByRole('button', { name: 'Get the advice' }).waitFor()
    expect((await page.getByLabel('Corners').inputValue()).split('\n')).toHaveLength(4)
    expect(await page.getByLabel('Name of the field').inputValue()).toBe(items[0].location.name)
  })

  test('begin with the country that the fields lie in', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/account`)
    await page.locator('.item', { hasText: 'Coop-7' }).waitFor()
    await unfold(page, 'Add a collection')
    const squares = [29.3, 29.5, 29.7].map(
      (west) => `POLYGON((${west} -1.6,${west + 0.001} -1.6,${west} -1.599,${west} -1.6))`,
    )
    const rows = squares.map((wkt, at) => `p${at},"${wkt}"\n`)
    await choose('potatoes.csv', `id,wkt\n${rows.join('')}`)
    await page.getByRole('button', { name: 'Keep the fields' }).click()
    await page.getByText('Fields: 3 kept, 0 refused.').waitFor()
    await page.getByRole('link', { name: 'Show potatoes' }).click()
    await page.locator('tbody tr').first().waitFor()
    expect(await page.getByLabel('Country').inputValue()).toBe('rwa')
    expect(await page.locator('tr.wrong').count()).toBe(0)
    // From so far away the field in the middle is less than a pixel.
    await clickMiddle()
    expect((await summary().innerText()).split(',')[0]).toBe('p1')
  })

  test('show which fields have changed since an earlier release', async () => {
    const { page } = visit
    const publish = async (urea: number, month: string) => {
      const changes = { forecastPeriod: `${month}-01`, checksum: `${urea}` }
      return (await loadRelease(service.database, onePixelRelease({ Urea: urea, DAP: 50 }, changes))).code
    }
    const before = await publish(100, '2026-08')
    await publish(130, '2026-09')
    await page.goto(`${visitors.url}/account/fields#collection=Coop-7&product=fertilizer&country=eth`)
    await page.reload()
    await page.getByLabel('Compare with').selectOption(before)
    await page.getByRole('button', { name: 'Show the changes' }).click()
    const rows = page.locator('table', { hasText: 'Changed fields, in kg/ha' }).locator('tbody tr')
    await rows.first().waitFor()
    const { items } = (await asked(`/Coop-7/changes?since=${before}`)).body
    expect(items).toHaveLength(121)
    const row = [items[0].id, items[0].name, 'Urea', 'Normal', 100, 130, 30]
    expect((await rows.first().innerText()).trim()).toBe(row.join('\t'))
    await page.getByLabel('Changed by more than (%)').fill('30')
    await page.getByRole('button', { name: 'Show the changes' }).click()
    await page.getByText('Nothing to show.').waitFor()
  })

  test('have no serious fault of accessibility, and fit a phone, in light and dark', async () => {
    const { page } = visit
    await page.setViewportSize(PHONE)
    for (const [path, shown] of [
      ['/account', 'Add a collection'],
      ['/account/fields#collection=Coop-7&product=fertilizer&country=eth', 'Show the changes'],
    ]) {
      await page.goto(visitors.url + path)
      await page
        .getByText(shown as string)
        .first()
        .waitFor()
      await until(page, "!document.querySelector('[aria-busy=true]')")
      expect([path, await allFaultsOf(page)]).toEqual([path, []])
    }
  })

  test('delete a collection', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/account`)
    page.once('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'Delete the fields of Coop-7' }).click()
    await page.getByText('In all 3 of 500,000 fields').waitFor()
    expect((await asked('/Coop-7')).status).toBe(404)
    expect(visit.complaints).toEqual([])
  })

  async function choose(name: string, text: string): Promise<void> {
    const file = { name, mimeType: '', buffer: Buffer.from(text) }
    await visit.page.locator('input[type=file]').setInputFiles(file)
  }

  /** What is said of a field. */
  const summary = () => visit.page.locator('[role=status]', { has: visit.page.getByRole('link') })

  async function clickMiddle(): Promise<void> {
    const canvas = visit.page.locator('.pane canvas')
    await drawn(visit.page)
    const { width = 0, height = 0 } = (await canvas.boundingBox()) ?? {}
    await canvas.click({ position: { x: width / 2, y: height / 2 } })
    await summary().waitFor()
  }

  const asked = (path: string, accept = 'application/json') =>
    service.get(`/fields${path}`, { by: service.person, headers: { accept } })
})

const collectionOf = (features: object[]) => JSON.stringify({ type: 'FeatureCollection', features })

interface Item {
  id: string
  location: { name: string; area_ha: number }
  yield_data: { scenario: string; yield_kg_ha: number }[]
}

/** Of a field's row: that of its name, its hectares, and the values of the seasons. */
const numbersOf = (item: Item) => [
  Number(item.location.name.replace('Plot ', '')),
  item.location.area_ha,
  ...['Normal', 'Above Normal', 'Below Normal', 'Dominant'].map((season) => valueIn(item, season)),
]

const valueIn = ({ yield_data }: Item, season: string) =>
  yield_data.find(({ scenario }) => scenario === season)?.yield_kg_ha as number
