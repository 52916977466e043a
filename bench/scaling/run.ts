/**
 * What grows with what, and a model of it.
 *
 * node bin/run.mjs bench/scaling/run.ts --report, with Debian's PostgreSQL and PostGIS; measures, and writes
 * docs/scaling.md and its charts. With --redraw they are made anew from the results of before; --side 1024 leaves out what
 * is larger, and --only loads, or points, measures these and takes the rest from the results of before. What a full `npm run bench` has measured is taken from its results: run it before, or take those of a later one
 * with --redraw --bench.
 */
import { parseArgs } from 'node:util'
import { cleanUpOnSignals, createCleanup } from '../cleanup.ts'
import { fromBench } from './from-bench.ts'
import { measureScaling } from './measure.ts'
import { publishedScalingResults, writeScalingReport } from './write.ts'

const { redraw, bench, report, side, only } = parseArgs({
  options: {
    redraw: { type: 'boolean' },
    bench: { type: 'boolean' },
    report: { type: 'boolean' },
    side: { type: 'string', default: '2048' },
    only: { type: 'string' },
  },
}).values
if (redraw) {
  const results = publishedScalingResults()
  writeScalingReport(bench ? { ...results, bench: fromBench() } : results)
} else {
  const cleanup = createCleanup()
  cleanUpOnSignals(cleanup)
  try {
    const part = only === 'loads' || only === 'points' ? only : undefined
    const results = await measureScaling(cleanup, Number(side), part, publishedScalingResults)
    console.log(JSON.stringify(results, null, 2))
    if (report) writeScalingReport(results)
  } finally {
    await cleanup.run()
  }
}
