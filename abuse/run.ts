/** npm run abuse: attacks a service, and prints as a table what others noticed of it. */
import { setTimeout } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { type Cleanup, withCleanup } from '#bench/cleanup.ts'
import { ask, type Member, type Sent } from '#bench/load/client.ts'
import { isBusy, loadBefore } from '#bench/machine.ts'
import { someOf } from '#bench/options.ts'
import { judge, type Outcome, reportOf } from './judge.ts'
import type { Scenario, Target } from './scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { type Kind, runningTarget, startTarget } from './targets.ts'
import { startVictims, type Victim, type Victims } from './victims/victims.ts'

const QUIET_SECONDS = 3
const ATTACKED_SECONDS = 6
/** The service is at rest when so many answers in a row took no longer; it is waited for as long as this. */
const QUICK_ANSWERS = 10
const QUICK_MS = 50
const QUICK_LOGIN_MS = 1000
const RECOVERY_MS = 30_000

interface Options {
  only: string[]
  on: Kind[]
  url?: URL
}

async function attack(
  target: Target,
  passerBy: Member,
  victims: Victims,
  scenario: Scenario,
  database: string,
): Promise<Outcome> {
  say(`${scenario.name} (${database}): somebody ${scenario.attacker}`)
  const who: Victim[] = ['point', ...scenario.victims]
  await recovery(passerBy)
  const quiet = await victims.ask(target.port, who, QUIET_SECONDS)
  const attack = await scenario.begin(target)
  const attacked = await victims.ask(target.port, who, ATTACKED_SECONDS)
  const figures = await attack.stop()
  return { scenario: scenario.name, database, quiet, attacked, figures }
}

/** Waits until the service has done with the attack before, which is not what the next one is about. */
async function recovery(passerBy: Member): Promise<void> {
  const { email, password } = passerBy
  const logIn: Sent = { path: '/auth/login', body: { email, password } }
  const longest = performance.now() + RECOVERY_MS
  for (let quick = 0; quick < QUICK_ANSWERS && performance.now() < longest; ) {
    const look = await ask(passerBy, { method: 'GET', path: '/health/ready' })
    quick = look.status === 200 && look.ms < QUICK_MS ? quick + 1 : 0
    // What waits for hashes, nobody else sees.
    if (quick === QUICK_ANSWERS && (await ask(passerBy, logIn)).ms > QUICK_LOGIN_MS) quick = 0
    await setTimeout(QUICK_MS)
  }
}

async function attackAll(
  cleanup: Cleanup,
  target: Target,
  { only }: Options,
  database: string,
): Promise<Outcome[]> {
  const victims = await startVictims(cleanup, await target.newcomer())
  const passerBy = await target.newcomer()
  const outcomes: Outcome[] = []
  // What is compiled by then is not slower the first time.
  await victims.ask(target.port, ['point', 'kept point', 'batch', 'history', 'login'], QUIET_SECONDS)
  for (const scenario of SCENARIOS.filter(({ name }) => only.includes(name))) {
    outcomes.push(await attack(target, passerBy, victims, scenario, database))
  }
  return outcomes
}

async function run(cleanup: Cleanup, options: Options): Promise<void> {
  const load = await loadBefore(say)
  if (isBusy(load)) say(`this machine is busy (load ${load.toFixed(1)}): limits may be missed for that`)
  const outcomes: Outcome[] = []
  if (options.url)
    outcomes.push(...(await attackAll(cleanup, runningTarget(options.url), options, 'running')))
  else {
    for (const kind of options.on) {
      const target = await startTarget(cleanup, kind)
      if (target) outcomes.push(...(await attackAll(cleanup, target, options, kind)))
      else say('there is no PostgreSQL with PostGIS here: the service is attacked on the embedded one alone')
    }
  }
  console.log(reportOf(outcomes))
  process.exitCode = outcomes.flatMap(judge).every(({ pass }) => pass) ? 0 : 1
}

function say(message: string): void {
  console.error(`abuse: ${message}`)
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new InvalidArgumentError(`"${text}" is no URL.`)
  return new URL(text)
}

const KINDS: Kind[] = ['server', 'embedded']
const names = SCENARIOS.map(({ name }) => name)
const options = new Command('npm run abuse --')
  .description('Attack a service, and see what others notice of it. Each attack takes up to 15 seconds.')
  .option('--only <attacks>', `some of: ${names.join(', ')}`, someOf(names), names)
  .option('--on <databases>', 'server, embedded or both', someOf(KINDS), KINDS)
  .option('--url <url>', 'a running service of this machine, instead of one for each database', urlOf)
  .parse()
  .opts<Options>()
await withCleanup((cleanup) => run(cleanup, options))
// An attack that the service does not answer would keep the process.
process.exit()
