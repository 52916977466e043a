/** npm run chaos: lets faults happen to a service under load, and prints as a table what came of them. */
import { writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { ask } from '#abuse/client.ts'
import { type Cleanup, cleanUpOnSignals, createCleanup } from '#bench/cleanup.ts'
import { isBusy, loadBefore } from '#bench/machine.ts'
import type { Fault, Kind } from './fault.ts'
import { FAULTS } from './faults/index.ts'
import { judge, type Outcome } from './judge.ts'
import { acknowledgedIn, client, type Load, learnAnswers, planFor, startLoad } from './load/load.ts'
import type { Plan } from './load/plan.ts'
import { type Options, readOptions } from './options.ts'
import { recordsOf, reportOf } from './report.ts'
import { type Rig, setUp } from './stage.ts'
import { verify } from './verify.ts'

/** How long the load goes on before a fault, and after it. */
const BEFORE_MS = 2000
const AFTER_MS = 5000
const READY_MS = 30_000

async function run(options: Options): Promise<void> {
  const cleanup = createCleanup()
  cleanUpOnSignals(cleanup)
  const load = loadBefore()
  if (isBusy(load)) say(`this machine is busy (load ${load.toFixed(1)}): answers may be late for that`)
  const outcomes: Outcome[] = []
  try {
    for (const kind of options.on) await tryAll(cleanup, kind, options, outcomes)
    process.exitCode = outcomes.every((outcome) => judge(outcome).mistakes.length === 0) ? 0 : 1
  } finally {
    // A fault that can't be made to happen takes nothing from those before it.
    console.log(reportOf(outcomes))
    if (options.report) writeFileSync(options.report, `${JSON.stringify(recordsOf(outcomes))}\n`)
    await cleanup.run()
  }
}

/** Tries the faults on a kind of database, and adds what came of them. */
async function tryAll(cleanup: Cleanup, kind: Kind, { only }: Options, outcomes: Outcome[]): Promise<void> {
  const faults = FAULTS.filter(({ name, on }) => on === kind && only.includes(name))
  if (faults.length === 0) return
  const rig = await setUp(cleanup, kind)
  if (!rig) {
    say(`there is no PostgreSQL with PostGIS here: the faults on ${kind} are left out`)
    return
  }
  await ready(rig.service.port)
  const known = await learnAnswers(rig)
  const load = startLoad(cleanup)
  for (const fault of faults) {
    if (fault.needsRoot && process.getuid?.() !== 0) say(`${fault.name} takes root: it is left out`)
    else outcomes.push(await tryOne(rig, load, known, fault))
  }
}

async function tryOne(rig: Rig, load: Load, known: Plan['known'], fault: Fault): Promise<Outcome> {
  say(`${fault.name} (${fault.on}): ${fault.happens}`)
  const { service, publications } = rig
  const plan = await planFor(service.port, known)
  const [complaints, pid] = [rig.complaints(), service.pid()]
  load.begin(plan)
  await setTimeout(BEFORE_MS)
  const from = Date.now()
  await fault.inject(rig)
  const to = Date.now()
  await setTimeout(Math.max(AFTER_MS, fault.recoveryMs))
  const { asked, ledger } = await load.stop()
  await ready(service.port)
  const outcome: Outcome = {
    fault,
    from,
    to,
    asked,
    publications: [...publications],
    lost: await verify(plan, ledger),
    acknowledged: acknowledgedIn(ledger),
    complaints: rig.complaints() - complaints,
    isUp: fault.endsProcess === true || service.pid() === pid,
  }
  for (const mistake of judge(outcome).mistakes) say(`  ${mistake}`)
  return outcome
}

/** Waits until the service is ready and reads from its replica, where it has one: it has to by itself. */
async function ready(port: number): Promise<void> {
  const longest = performance.now() + READY_MS
  for (;;) {
    const { status, body } = await ask(client(port), { method: 'GET', path: '/health/ready' })
    if (status === 200 && (JSON.parse(body).replica?.state ?? 'used') === 'used') return
    if (performance.now() > longest) throw new Error('the service is not ready again')
    await setTimeout(100)
  }
}

function say(message: string): void {
  console.error(`chaos: ${message}`)
}

await run(readOptions(process.argv.slice(2)))
