import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { drawScalingCharts } from '#bench/scaling/charts.ts'
import { checksOf, errorOf } from '#bench/scaling/checks.ts'
import { coefficientsOf } from '#bench/scaling/coefficients.ts'
import { isCropland, pointsInEach } from '#bench/scaling/content.ts'
import { costOf } from '#bench/scaling/cost-model.ts'
import { scalingPage } from '#bench/scaling/page.ts'
import { hitRatio, mostPointsPerSecond, p99Ms, WORKER_OVERHEAD } from '#bench/scaling/requests-model.ts'
import type { ScalingResults } from '#bench/scaling/results.ts'
import { AFRICA_CROPLAND } from '#bench/scaling/scenarios.ts'
import { storageOf } from '#bench/scaling/storage-model.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('scaling/', DOCS)
const read = (name: string, folder = FOLDER) => readFileSync(new URL(name, folder), 'utf8')
const published: ScalingResults = JSON.parse(read('results.json'))

test('the page of scaling is what the model makes of the published results, and shows each chart', () => {
  const page = read('scaling.md', DOCS)
  expect(page).toBe(scalingPage(published))
  const charts = drawScalingCharts(published)
  const shown = [...page.matchAll(/!\[[^\]]*\]\(scaling\/([^)]*)\)/g)].map(([, name]) => name)
  expect(shown.toSorted()).toEqual([...charts.keys()].toSorted())
  expect(readdirSync(FOLDER).toSorted()).toEqual([...charts.keys(), 'results.json'].toSorted())
  for (const [name, chart] of charts) expect(read(name), name).toBe(chart)
})

test('the page has no gap where a number was not measured, and names no path of the machine', () => {
  const page = read('scaling.md', DOCS)
  expect(page).not.toMatch(/\bNaN\b|undefined|Infinity|\bnone\b \|/)
  expect(page).not.toMatch(/\/(tmp|home|root|work|var|Users)\b/)
})

test('the model is as near to each measurement that it was not made from as the page says', () => {
  const checks = checksOf(published)
  expect(checks.length).toBeGreaterThan(30)
  const missed = checks.filter((check) => !(errorOf(check) <= check.tolerance))
  expect(missed.map((check) => [check.what, errorOf(check), check.tolerance])).toEqual([])
})

test('the masked rasters have as much cropland as Africa, at each size', () => {
  for (const side of [1024, 2048]) {
    let cropland = 0
    for (let row = 0; row < side; row++)
      for (let column = 0; column < side; column++) if (isCropland(row, column)) cropland++
    expect(Math.abs(cropland / side ** 2 / AFRICA_CROPLAND - 1)).toBeLessThan(0.03)
  }
})

test('what is stored grows with pixels and layers, and files take what PostgreSQL is spared', () => {
  const coefficients = coefficientsOf(published)
  const dataset = { content: 'int16', pixels: 1e9, layers: 8 } as const
  const inDatabase = storageOf(dataset, 'postgis', coefficients, published.rows)
  const inFiles = storageOf(dataset, 'files', coefficients, published.rows)
  const twice = storageOf({ ...dataset, pixels: 2e9 }, 'postgis', coefficients, published.rows)
  expect(twice.databaseBytes).toBeCloseTo(2 * inDatabase.databaseBytes, -3)
  expect(inFiles).toMatchObject({ tileBytes: 0, tileIndexBytes: 0, summaryBytes: inDatabase.summaryBytes })
  expect(inDatabase.fileBytes).toBe(0)
  expect(inFiles.granules).toBeCloseTo(1e9 / 512 ** 2, 6)
})

test('a cache finds what a simulation of one finds', () => {
  const [places, room] = [2000, 300]
  // The place of each draw, by the inverse of the sum of 1/n, with draws as regular as they can be.
  const cumulative: number[] = []
  for (let place = 1; place <= places; place++) cumulative.push((cumulative.at(-1) ?? 0) + 1 / place)
  const total = cumulative.at(-1) as number
  const memory = new Map<number, true>()
  let [hits, asked, state] = [0, 0, 1]
  for (let draw = 0; draw < 60_000; draw++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const wanted = (state / 2 ** 32) * total
    const place = cumulative.findIndex((sum) => sum > wanted)
    if (memory.delete(place)) hits += draw < 10_000 ? 0 : 1
    else if (memory.size === room) memory.delete(memory.keys().next().value as number)
    memory.set(place, true)
    asked += draw < 10_000 ? 0 : 1
  }
  expect(hitRatio(places, room)).toBeCloseTo(hits / asked, 1)
  expect(Math.abs(hitRatio(places, room) - hits / asked)).toBeLessThan(0.02)
  expect([hitRatio(100, 100), hitRatio(100, 0)]).toEqual([1, 0])
})

test('processes add up but for what the primary costs, and waiting grows with use', () => {
  expect(mostPointsPerSecond(25_000, 1)).toBe(25_000)
  expect(mostPointsPerSecond(25_000, 16)).toBeCloseTo((16 * 25_000) / WORKER_OVERHEAD)
  const alone = { p50: 0.1, p99: 0.4 }
  expect(p99Ms(alone, 0)).toBe(0.4)
  // M/M/1: 99 of 100 wait for less than s * ln(100 * use) / (1 - use).
  expect(p99Ms(alone, 0.5)).toBeCloseTo(0.4 + (0.1 * Math.log(50)) / 0.5)
})

test('a bill adds machines, a volume for each member, and what lies in object storage', () => {
  const cost = costOf({
    services: { count: 2, cores: 8 },
    members: { count: 3, cores: 4 },
    databaseBytes: 1e12,
    fileBytes: 2e12,
  })
  expect(cost.machines).toBeCloseTo(2 * 138.49 + 3 * 85.99)
  expect(cost.volumes).toBeCloseTo(3 * 1.3 * 1000 * 0.0572)
  expect(cost.objects).toBeCloseTo((4 * 7.99) / 1.1133)
  expect(cost.total).toBeCloseTo(cost.machines + cost.volumes + cost.objects)
})

test('points lie in the middle of squares, each once', () => {
  const points = pointsInEach(64, 16)
  expect(points).toHaveLength(16)
  expect(new Set(points.map(({ lat, lng }) => `${lat} ${lng}`)).size).toBe(16)
  expect(points).toContainEqual({ lat: 9.997705, lng: 37.002295 })
})
