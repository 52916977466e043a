import { type Bench, byTurns, median, say, warmUp } from '../bench.ts'
import { figure } from '../limits.ts'
import { join } from '../load/client.ts'
import { OF_RELEASE } from '../rasters/data.ts'
import type { Point } from '../rasters/raster.ts'
import type { BatchResult } from '../results.ts'
import { startService } from '../service.ts'

const POINTS = 10_000
const WARM_UP_CALLS = 3
const SHOWN_BYTES = 300
const QUERY = 'crop=wheat&country_code=eth'

type Row = BatchResult['rows'][number]
type Form = Row['form']

/** The service by how it has the tiles, and how its answers come. */
const TARGETS: Pick<Row, 'target' | 'coding'>[] = [
  { target: 'memory', coding: 'identity' },
  { target: 'memory', coding: 'gzip' },
  { target: 'no-cache', coding: 'identity' },
]

/** How each form sends points, and what the answer to them must be. */
const FORMS: Record<Form, { write: (points: Point[]) => string; expect: (items: string[]) => string }> = {
  'application/x-ndjson': {
    write: (points) => points.map((point, id) => JSON.stringify({ id, ...point })).join('\n'),
    expect: (items) => `${items.join('\n')}\n`,
  },
  'application/json': {
    write: (points) =>
      JSON.stringify({
        points: points.map((point, id) => ({ id, ...point })),
        crop: 'wheat',
        country_code: 'eth',
      }),
    expect: (items) => `{${JSON.stringify(OF_RELEASE).slice(1, -1)},"items":[${items.join(',')}]}`,
  },
}

/**
 * Many points in one call, with a token, over HTTP: from the first byte sent to the last one received.
 * Every answer is compared to the byte with what the bench itself makes of the rasters.
 */
export async function measureBatch(bench: Bench, url: string): Promise<BatchResult> {
  const { cleanup, effort } = bench
  const where = { DATABASE_URL: url }
  const services = {
    memory: await startService(cleanup, where),
    'no-cache': await startService(cleanup, where, { TILE_CACHE_MB: '0' }),
  }
  for (const { port } of Object.values(services)) await warmUp(bench, port)
  // The services share a database, so a token of one is good for both.
  const { token } = await join(services.memory)
  const rows: BatchResult['rows'] = []
  let different = 0
  for (const form of Object.keys(FORMS) as Form[]) {
    say(`batch, ${form}`)
    const measured = TARGETS.map((target) => ({ ...target, rates: [] as number[] }))
    for (let round = -WARM_UP_CALLS; round < effort.batchCalls * effort.roundsOfLimits; round++) {
      for (const { target, coding, rates } of byTurns(measured, round)) {
        const from = { port: services[target].port, token, coding }
        const call = await send(bench, from, form, round + WARM_UP_CALLS)
        if (round >= 0) rates.push(call.pointsPerSecond)
        if (call.problem === undefined) continue
        different++
        bench.problems.push(call.problem)
      }
    }
    for (const { target, coding, rates } of measured)
      rows.push({ form, target, coding, pointsPerSecond: median(rates) })
  }
  for (const service of Object.values(services)) await service.stop()
  return { points: POINTS, rows, different }
}

interface Call {
  pointsPerSecond: number
  problem: string | undefined
}

async function send(
  { places, data }: Bench,
  { port, token, coding }: { port: number; token: string; coding: Row['coding'] },
  form: Form,
  round: number,
): Promise<Call> {
  const from = (round * POINTS) % places.uniform.length
  const points = places.uniform.slice(from, from + POINTS)
  const { write, expect } = FORMS[form]
  const body = write(points)
  const started = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/advisory/fertilizer/points?${QUERY}`, {
    method: 'POST',
    headers: {
      'content-type': form,
      accept: form,
      'accept-encoding': coding,
      authorization: `Bearer ${token}`,
    },
    body,
  })
  const answer = Buffer.from(await response.arrayBuffer())
  const seconds = (performance.now() - started) / 1000
  const items = points.map((point, id) => `{"id":${id},${data.answerAt(point)?.slice(1)}`)
  const asAsked = (response.headers.get('content-encoding') ?? 'identity') === coding
  const right = response.status === 200 && asAsked && answer.equals(Buffer.from(expect(items)))
  const shown = answer.toString('utf8', 0, SHOWN_BYTES)
  return {
    pointsPerSecond: POINTS / seconds,
    problem: right ? undefined : `${figure(POINTS)} points as ${form}: ${response.status} ${shown}`,
  }
}
