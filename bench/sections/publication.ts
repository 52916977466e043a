import type { Manifest } from '#src/ingest/manifest.ts'
import { type Bench, load, medians, ratio, say, warmUp } from '../bench.ts'
import type { LoadResult } from '../load/generator.ts'
import type { PublicationResult } from '../results.ts'
import { ingest, publish, startService, withDatabase } from '../service.ts'

const CONNECTIONS = 64

/**
 * What those who ask for points notice when a release is published whose tiles nobody has asked for yet. It has the
 * values of the one before, so that answers are as long.
 *
 * @param published the release that answers, and answers again afterwards
 */
export async function measurePublication(
  bench: Bench,
  url: string,
  published: string,
): Promise<PublicationResult> {
  const { rounds, publicationSeconds: seconds } = bench.effort
  const [manifest] = bench.data.manifests as [Manifest]
  const before: LoadResult[] = []
  const after: LoadResult[] = []
  say('publication: loading the next release')
  await withDatabase({ DATABASE_URL: url }, async (database) => {
    const next = await ingest(database, manifest, { publish: false })
    for (let round = 0; round < rounds; round++) {
      say(`publication, round ${round + 1} of ${rounds}`)
      // A process that has answered from the next release still has its tiles.
      const service = await startService(bench.cleanup, { DATABASE_URL: url })
      await warmUp(bench, service.port)
      const task = { list: 'uniform', order: 'uniform', connections: CONNECTIONS, seconds, round } as const
      before.push(await load(bench, service.port, task))
      const [result] = await Promise.all([load(bench, service.port, task), publish(database, next.code)])
      after.push(result)
      await service.stop()
      await publish(database, published)
    }
  })
  return {
    seconds,
    before: medians(before),
    after: medians(after),
    p99ToBefore: ratio(after, before, ({ p99 }) => p99),
  }
}
