/** npm run cluster: lets faults happen to a cluster under load, and prints as a table what came of them. */
import { Command } from 'commander'
import { type Cleanup, withCleanup } from '#bench/cleanup.ts'
import { someOf } from '#bench/options.ts'
import { judge, type Outcome } from '../judge.ts'
import { learnAnswers, startLoad } from '../load/load.ts'
import { clusterReportOf } from '../report.ts'
import { ready, say, tryOne } from '../trial.ts'
import { CLUSTER_FAULTS, REPEATED_FAULT } from './faults.ts'
import { missingPrograms, PROGRAMS } from './members.ts'
import { setUpCluster } from './stage.ts'

interface Options {
  only: string[]
  quick: boolean
}

const TIMES = 10

async function run(cleanup: Cleanup, { only, quick }: Options): Promise<boolean> {
  const outcomes: Outcome[] = []
  try {
    const stage = await setUpCluster(cleanup)
    for (const port of [stage.service.port, ...(stage.otherPorts ?? [])]) await ready(port)
    const known = await learnAnswers(stage)
    const load = startLoad(cleanup)
    const repeated = Array.from({ length: quick ? 1 : TIMES }, () => REPEATED_FAULT)
    for (const fault of [...CLUSTER_FAULTS, ...repeated]) {
      if (only.includes(fault.name)) outcomes.push(await tryOne(stage, load, known, fault))
    }
    return outcomes.every((outcome) => judge(outcome).mistakes.length === 0)
  } finally {
    // A fault that can't be made to happen takes nothing from those before it.
    console.log(clusterReportOf(outcomes))
  }
}

const names = [...CLUSTER_FAULTS, REPEATED_FAULT].map(({ name }) => name)
const options = new Command('npm run cluster --')
  .description(
    'Let faults happen to a cluster of three members under load, and see what fails, is wrong or is lost.',
  )
  .option('--only <faults>', `some of: ${names.join(', ')}`, someOf(names), names)
  .option('--quick', 'kill the leader once instead of ten times', false)
  .parse()
  .opts<Options>()
const missing = await missingPrograms(PROGRAMS)
if (missing.length > 0) {
  say(
    `there is no ${missing.join(', ')} here: the cluster is left out. As root, ops/cluster/up installs them`,
  )
} else {
  process.exitCode = (await withCleanup((cleanup) => run(cleanup, options))) ? 0 : 1
}
