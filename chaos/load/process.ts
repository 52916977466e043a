/**
 * The load: a process of its own, so that what injects faults does not slow it down. It is told over IPC what to ask,
 * and answers with what it heard when it is told to stop.
 */
import { beginLoad, type UnderWay } from './begin.ts'
import type { Plan } from './plan.ts'

let underWay: UnderWay | undefined

process.on('message', async (message: Plan | 'stop') => {
  if (message === 'stop') process.send?.(await underWay?.stop())
  else underWay = beginLoad(message)
})
process.on('disconnect', () => process.exit())
