import nodeCluster from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Config } from '#src/config.ts'
import type { Cluster } from '#src/database/client.ts'
import { busy } from '#src/domains/auth/hashing.ts'
import { createHashingLines } from '#src/domains/auth/hashing-lines.ts'
import { serveScrapes } from '#src/http/metrics/listener.ts'
import { messageOf } from '#src/lib/caught.ts'
import { type Crew, startCrew } from './crew.ts'
import { CLOSE_TIMEOUT_MS } from './ending.ts'
import { type Front, openFront } from './front.ts'
import { createHashingDesk } from './hashing-desk.ts'
import type { End, Member } from './member.ts'
import { prepare } from './prepare.ts'
import type { Running, Start } from './running.ts'
import { createScraping } from './scraping.ts'
import { configOfWorker } from './shares.ts'
import { tellScrapers, welcome } from './welcome.ts'

/** Workers end by themselves before. */
const KILL_AFTER_MS = CLOSE_TIMEOUT_MS + 1000

/** Handing over what was let in takes milliseconds. */
const SETTLING_MS = 1000

/**
 * Runs the service in WORKERS processes, and answers nothing by itself: it lets connections in and hands them over to
 * workers, starts others where they end, tells them when to stop, and puts their metrics together.
 */
export async function run(config: Config, cluster: Cluster, { announcer, seconds }: Start): Promise<Running> {
  const { say } = announcer
  const synthetic = await prepare(config, cluster, say)
  await cluster.close()

  let crew: Crew | undefined
  let front: Front | undefined
  const ready = () => crew?.ready() ?? []
  const scraping = await createScraping(() => crew)
  nodeCluster.setupPrimary({
    exec: fileURLToPath(new URL('../../bin/run.mjs', import.meta.url)),
    args: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    serialization: 'advanced',
  })
  const lines = createHashingLines(busy, config.WORKERS)
  crew = await startCrew({
    config: configOfWorker(config),
    workers: config.WORKERS,
    say,
    answers: () => front?.admit(),
    returned: (socket) => front?.handOver(socket),
    joined(member) {
      const desk = createHashingDesk(lines, member.tell)
      return {
        hear(message) {
          if (message.kind === 'metrics') scraping.answered(member, message.metrics)
          else desk.hear(message)
        },
        left() {
          desk.close()
          scraping.left(member)
        },
      }
    },
  })
  // It has said why.
  if (!crew) process.exit(1)
  front = await openFront(config, ready)
  const scraped = await serveScrapes(config, scraping.read, (error) =>
    say(`the metrics could not be read: ${messageOf(error)}`),
  )
  welcome(announcer, config, { port: front.port, seconds: seconds(), synthetic })
  tellScrapers(announcer, config, scraped)
  return { stop: () => stopInOrder(crew, front, config) }
}

async function stopInOrder(crew: Crew, front: Front, { SHUTDOWN_DELAY_MS }: Config): Promise<never> {
  const members = crew.retire()
  // Without a delay, who is told to leave would come back at the moment when nobody listens any more.
  if (SHUTDOWN_DELAY_MS > 0) {
    for (const member of members) member.tell({ kind: 'drain' })
    await setTimeout(SHUTDOWN_DELAY_MS)
  }
  await front.close()
  // Whoever was let in is with a worker before that ends; not for one that hangs.
  await Promise.race([Promise.all(members.map((member) => member.settled())), setTimeout(SETTLING_MS)])
  for (const member of members) member.tell({ kind: 'end' })
  const ends = await Promise.all(members.map(endOf))
  process.exit(ends.every(({ code }) => code === 0) ? 0 : 1)
}

async function endOf(member: Member): Promise<End> {
  const tooLate = new AbortController()
  void setTimeout(KILL_AFTER_MS, undefined, { signal: tooLate.signal }).then(member.kill, () => {})
  return member.ended.finally(() => tooLate.abort())
}
