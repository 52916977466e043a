import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Results } from '../results.ts'
import { drawCharts } from './charts.ts'
import { performancePage } from './page.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('performance/', DOCS)

/** The results that the page was made from. */
export function publishedResults(): Results {
  return JSON.parse(readFileSync(new URL('results.json', FOLDER), 'utf8'))
}

/** Writes docs/performance.md, its charts, and the results that both are made from. */
export function writeReport(results: Results): void {
  mkdirSync(FOLDER, { recursive: true })
  for (const name of readdirSync(FOLDER)) if (name.endsWith('.svg')) rmSync(new URL(name, FOLDER))
  for (const [name, chart] of drawCharts(results)) writeFileSync(new URL(name, FOLDER), chart)
  writeFileSync(new URL('results.json', FOLDER), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL('performance.md', DOCS), performancePage(results))
}
