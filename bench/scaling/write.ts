import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { drawScalingCharts } from './charts.ts'
import { scalingPage } from './page.ts'
import type { ScalingResults } from './results.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('scaling/', DOCS)

/** The results that the page was made from. */
export function publishedScalingResults(): ScalingResults {
  return JSON.parse(readFileSync(new URL('results.json', FOLDER), 'utf8'))
}

/** Writes docs/scaling.md, its charts, and the results that both are made from. */
export function writeScalingReport(results: ScalingResults): void {
  mkdirSync(FOLDER, { recursive: true })
  for (const name of readdirSync(FOLDER)) if (name.endsWith('.svg')) rmSync(new URL(name, FOLDER))
  for (const [name, chart] of drawScalingCharts(results)) writeFileSync(new URL(name, FOLDER), chart)
  writeFileSync(new URL('results.json', FOLDER), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL('scaling.md', DOCS), scalingPage(results))
}
