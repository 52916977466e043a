import type { Manifest } from '#src/ingest/manifest.ts'
import { type Bench, load, median, say, warmUp } from '../bench.ts'
import { ask, join, type Member } from '../load/client.ts'
import { hectareAround } from '../rasters/shapes.ts'
import type { FieldsResult } from '../results.ts'
import { ingest, publish, startService, withDatabase } from '../service.ts'

const FIELDS = 100_000
const COLLECTION = '/fields/bench'
const LONGEST_MS = 600_000
const WARM_CALLS = 3
const CONNECTIONS = 16

/**
 * A saved collection of fields of a hectare: kept, answered for the first time, again, and on the next release of the grid.
 *
 * @param published the release that answers, and answers again afterwards
 */
export async function measureFields(bench: Bench, url: string, published: string): Promise<FieldsResult> {
  say('saved fields')
  const [manifest] = bench.data.manifests as [Manifest]
  const service = await startService(bench.cleanup, { DATABASE_URL: url })
  const member = await join(service)
  const kept = await keep(bench, member)
  const adviseOn = () => advise(bench, member)
  const first = await adviseOn()
  const again: number[] = []
  for (let call = 0; call < WARM_CALLS; call++) again.push(await adviseOn())
  say('saved fields: the next release')
  const next = await withDatabase({ DATABASE_URL: url }, async (database) => {
    const { code } = await ingest(database, manifest, { publish: false })
    await publish(database, code)
    await untilAnswered(member, code)
    const ms = await adviseOn()
    await publish(database, published)
    return ms
  })
  await warmUp(bench, service.port)
  const task = {
    list: 'uniform',
    order: 'uniform',
    connections: CONNECTIONS,
    seconds: bench.effort.seconds,
    round: 0,
  } as const
  const quiet = await load(bench, service.port, task)
  const [beside] = await Promise.all([load(bench, service.port, task), adviseOn()])
  await service.stop()
  return {
    fields: FIELDS,
    kept,
    first,
    again: median(again),
    next,
    p99Quiet: quiet.p99,
    p99Beside: beside.p99,
  }
}

async function keep({ places, problems }: Bench, member: Member): Promise<number> {
  const { uniform } = places
  const lines = Array.from({ length: FIELDS }, (_, id) => {
    const { lat, lng } = uniform[id % uniform.length] as (typeof uniform)[number]
    // Places come again as neighbours.
    const beside = Math.floor(id / uniform.length) * 0.001
    const geometry = hectareAround({ lat, lng: lng + beside })
    return JSON.stringify({ type: 'Feature', id, geometry, properties: null })
  })
  const headers = { 'content-type': 'application/x-ndjson' }
  const sent = { method: 'PUT', path: COLLECTION, body: lines.join('\n'), headers }
  const { status, body, ms } = await ask(member, sent, LONGEST_MS)
  if (status !== 200 || JSON.parse(body).fields !== FIELDS) {
    problems.push(`${FIELDS} fields were kept as ${status} ${body.slice(0, 300)}`)
  }
  return ms
}

async function advise({ problems }: Bench, member: Member): Promise<number> {
  const headers = { accept: 'application/x-ndjson' }
  const path = `${COLLECTION}/advice?product=fertilizer&crop=wheat&country_code=eth`
  const { status, body, ms } = await ask(member, { method: 'GET', path, headers }, LONGEST_MS)
  const lines = body.split('\n').length - 1
  if (status !== 200 || lines !== FIELDS) {
    problems.push(`${FIELDS} saved fields were answered ${status}, ${lines} lines: ${body.slice(0, 300)}`)
  }
  return ms
}

/** Waits until a process answers from a release. */
async function untilAnswered(member: Member, release: string): Promise<void> {
  for (;;) {
    const { headers } = await ask(member, {
      path: '/advisory/fertilizer/point',
      body: { lat: 9.5, lng: 38.5 },
    })
    if (headers['advisory-release'] === release) return
  }
}
