import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { drawZonalCharts, zonalPage } from '#bench/zonal/page.ts'
import type { ZonalResults } from '#bench/zonal/results.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('zonal-statistics/', DOCS)
const read = (name: string, folder = FOLDER) => readFileSync(new URL(name, folder), 'utf8')
const published: ZonalResults = JSON.parse(read('results.json'))

test('the page of statistics of polygons is what the published results make, and shows each chart', () => {
  const page = read('zonal-statistics.md', DOCS)
  expect(page).toBe(zonalPage(published))
  const charts = drawZonalCharts(published)
  const shown = [...page.matchAll(/!\[[^\]]*\]\(zonal-statistics\/([^)]*)\)/g)].map(([, name]) => name)
  expect(shown.toSorted()).toEqual([...charts.keys()].toSorted())
  expect(readdirSync(FOLDER).toSorted()).toEqual([...charts.keys(), 'results.json'].toSorted())
  for (const [name, chart] of charts) expect(read(name), name).toBe(chart)
})

test('the means of the service are off by less than a millionth wherever they were measured, and none is missed', () => {
  for (const { name, methods } of published.sizes) {
    const service = methods.find(({ method }) => method === 'service')
    expect([name, service?.missed]).toEqual([name, 0])
    expect(service?.meanError95).toBeLessThan(1e-6)
    // Hectares and percentages have four decimals.
    expect(service?.totalError95).toBeLessThan(1e-4)
  }
})
