import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { drawZonalCharts, zonalPage } from './page.ts'
import type { ZonalResults } from './results.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('zonal-statistics/', DOCS)

/** The results that the page was made from. */
export function publishedZonalResults(): ZonalResults {
  return JSON.parse(readFileSync(new URL('results.json', FOLDER), 'utf8'))
}

/** Writes docs/zonal-statistics.md, its charts, and the results that both are made from. */
export function writeZonalReport(results: ZonalResults): void {
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, chart] of drawZonalCharts(results)) writeFileSync(new URL(name, FOLDER), chart)
  writeFileSync(new URL('results.json', FOLDER), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL('zonal-statistics.md', DOCS), zonalPage(results))
}
