import { spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import type { Cleanup } from '#bench/cleanup.ts'
import { askEvery } from '#bench/load/loops.ts'
import { stopProcess } from '#bench/processes.ts'
import type { Fault } from './fault.ts'
import type { Outcome } from './judge.ts'
import { byTurns, emptyHeard } from './load/begin.ts'
import { type Asking, type Caller, callerOf, createAsking } from './load/callers.ts'
import { mapVisitor } from './load/visitors.ts'
import { setUpEmbedded } from './stage.ts'
import { ready, say } from './trial.ts'

const LOOPS = 4

/** It is no fault that others compute: what is asked may be late, and nothing is refused. */
export const BUSY_MACHINE = {
  name: 'busy-machine',
  on: 'embedded',
  happens: 'four programs that never pause run beside a first start, and then for minutes',
  unnoticed: ['point', 'map'],
  longestMs: 5000,
  recoveryMs: 0,
} satisfies Omit<Fault, 'inject'>

/** Has a service start for the first time beside busy loops, and asks for its map and for points from then on. */
export async function tryBusyMachine(cleanup: Cleanup, minutes: number): Promise<Outcome> {
  say(`${BUSY_MACHINE.name} (embedded): ${BUSY_MACHINE.happens}`)
  const loops = Array.from({ length: LOOPS }, () => {
    const loop = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
    return cleanup.add(() => stopProcess(loop))
  })
  const { service, complaints } = await setUpEmbedded(cleanup, { TILE_CACHE_MB: '' })
  await ready(service.port)
  const pid = service.pid()
  const heard = emptyHeard()
  const asking = createAsking(byTurns([service.port]), heard)
  const from = Date.now()
  const callers = [mapVisitor(asking), pointCaller(asking)]
  const loads = callers.map(({ everyMs, ask }) => askEvery(everyMs, ask))
  await setTimeout(minutes * 60_000)
  const to = Date.now()
  await Promise.all(loads.map((load) => load.stop()))
  const isUp = service.pid() === pid
  for (const stop of loops) await stop()
  await service.end('SIGTERM')
  const nothing = { publications: [], lost: [], acknowledged: 0 }
  return { fault: BUSY_MACHINE, from, to, asked: heard.asked, ...nothing, complaints: complaints(), isUp }
}

const PRODUCTS = ['yield', 'fertilizer', 'isfm', 'forage']

/** Asks for each product in turn, each time somewhere else in a highland where all have values. */
function pointCaller(asking: Asking): Caller {
  let turn = 0
  return callerOf(200, async () => {
    const [lat, lng] = [9.1 + (turn % 61) / 100, 38.3 + (turn % 47) / 100]
    const path = `/advisory/${PRODUCTS[turn++ % PRODUCTS.length]}/point`
    const body = JSON.stringify({ lat, lng, country_code: 'eth', crop: 'wheat' })
    await asking('point', { path, body }, undefined)
  })
}
