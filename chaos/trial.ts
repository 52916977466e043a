import { setTimeout } from 'node:timers/promises'
import { ask } from '#bench/load/client.ts'
import { until } from '#bench/load/loops.ts'
import type { Fault, Publication, Service } from './fault.ts'
import { judge, type Outcome } from './judge.ts'
import { acknowledgedIn, client, type Load, planFor } from './load/load.ts'
import type { Plan } from './load/plan.ts'
import { verify } from './verify.ts'

/** What is asked while a fault happens, and what it is judged by. */
export interface Subject {
  service: Pick<Service, 'port' | 'pid'>
  /** Where other processes of the same service listen. */
  otherPorts?: number[]
  publications: Publication[]
  /** Lines of the log so far, at the level warn or above, of all processes that were started. */
  complaints(): number
}

/** How long the load goes on before a fault, and after it. */
const BEFORE_MS = 2000
const AFTER_MS = 5000
const READY_MS = 30_000

/** Lets a fault happen under load, and waits until the service is well again. */
export async function tryOne<Where>(
  subject: Subject & Where,
  load: Load,
  known: Plan['known'],
  fault: Fault<Where>,
): Promise<Outcome> {
  say(`${fault.name} (${fault.on}): ${fault.happens}`)
  const { service, otherPorts = [], publications } = subject
  const plan = { ...(await planFor(service.port, known)), otherPorts }
  const [complaints, pid] = [subject.complaints(), service.pid()]
  load.begin(plan)
  await setTimeout(BEFORE_MS)
  const from = Date.now()
  await fault.inject(subject)
  const to = Date.now()
  await setTimeout(Math.max(AFTER_MS, fault.recoveryMs))
  const { asked, ledger } = await load.stop()
  for (const port of [service.port, ...otherPorts]) await ready(port)
  const outcome: Outcome = {
    fault,
    from,
    to,
    asked,
    publications: [...publications],
    lost: await verify(plan, ledger),
    acknowledged: acknowledgedIn(ledger),
    complaints: subject.complaints() - complaints,
    isUp: fault.endsProcess === true || service.pid() === pid,
  }
  for (const mistake of judge(outcome).mistakes) say(`  ${mistake}`)
  return outcome
}

/** Waits until the service is ready and reads from its replica, where it has one: it has to by itself. */
export async function ready(port: number): Promise<void> {
  const isReady = async () => {
    const { status, body } = await ask(client(port), { method: 'GET', path: '/health/ready' })
    return status === 200 && (JSON.parse(body).replica?.state ?? 'used') === 'used'
  }
  if (!(await until(isReady, READY_MS, 100))) throw new Error('the service is not ready again')
}

export function say(message: string): void {
  console.error(`chaos: ${message}`)
}
