/**
 * What grows with what, and a model of it.
 *
 * node bin/run.mjs bench/scaling/run.ts --report, with Debian's PostgreSQL and PostGIS; measures, and writes
 * docs/scaling.md and its charts. With --redraw they are made anew from the results of before; --side 1024 leaves out what
 * is larger. What a full `npm run bench` has measured before is taken from its results.
 */
import { parseArgs } from 'node:util'
import { cleanUpOnSignals, createCleanup } from '../cleanup.ts'
import { measureScaling } from './measure.ts'
import { publishedScalingResults, writeScalingReport } from './write.ts'

const { redraw, report, side } = parseArgs({
  options: {
    redraw: { type: 'boolean' },
    report: { type: 'boolean' },
    side: { type: 'string', default: '2048' },
  },
}).values
if (redraw) writeScalingReport(publishedScalingResults())
else {
  const cleanup = createCleanup()
  cleanUpOnSignals(cleanup)
  try {
    const results = await measureScaling(cleanup, Number(side))
    console.log(JSON.stringify(results, null, 2))
    if (report) writeScalingReport(results)
  } finally {
    await cleanup.run()
  }
}
