/** npm run chaos: lets faults happen to a service under load, and prints as a table what came of them. */
import { Command } from 'commander'
import { type Cleanup, withCleanup } from '#bench/cleanup.ts'
import { isBusy, loadBefore } from '#bench/machine.ts'
import { positiveInteger, someOf } from '#bench/options.ts'
import { BUSY_MACHINE, tryBusyMachine } from './busy.ts'
import type { Kind } from './fault.ts'
import { FAULTS } from './faults/index.ts'
import { judge, type Outcome } from './judge.ts'
import { learnAnswers, startLoad } from './load/load.ts'
import { reportOf } from './report.ts'
import { setUp } from './stage.ts'
import { ready, say, tryOne } from './trial.ts'

interface Options {
  only: string[]
  on: Kind[]
  minutes: number
}

async function run(cleanup: Cleanup, options: Options): Promise<void> {
  const load = await loadBefore(say)
  if (isBusy(load)) say(`this machine is busy (load ${load.toFixed(1)}): answers may be late for that`)
  const outcomes: Outcome[] = []
  try {
    for (const kind of options.on) await tryAll(cleanup, kind, options, outcomes)
    process.exitCode = outcomes.every((outcome) => judge(outcome).mistakes.length === 0) ? 0 : 1
  } finally {
    // A fault that can't be made to happen takes nothing from those before it.
    console.log(reportOf(outcomes))
  }
}

/** Tries the faults on a kind of database, and adds what came of them. */
async function tryAll(
  cleanup: Cleanup,
  kind: Kind,
  { only, minutes }: Options,
  outcomes: Outcome[],
): Promise<void> {
  if (kind === BUSY_MACHINE.on && only.includes(BUSY_MACHINE.name)) {
    const outcome = await tryBusyMachine(cleanup, minutes)
    for (const mistake of judge(outcome).mistakes) say(`  ${mistake}`)
    outcomes.push(outcome)
  }
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

const KINDS: Kind[] = ['server', 'replica', 'embedded']
const names = [...new Set([...FAULTS, BUSY_MACHINE].map(({ name }) => name))]
const options = new Command('npm run chaos --')
  .description('Let faults happen to a service under load, and see what fails, is wrong or is lost.')
  .option('--only <faults>', `some of: ${names.join(', ')}`, someOf(names), names)
  .option('--on <databases>', `some of: ${KINDS.join(', ')}`, someOf(KINDS), KINDS)
  .option('--minutes <number>', `how long ${BUSY_MACHINE.name} is watched`, positiveInteger, 5)
  .parse()
  .opts<Options>()
await withCleanup((cleanup) => run(cleanup, options))
