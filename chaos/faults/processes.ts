import { setTimeout } from 'node:timers/promises'
import type { Fault, Kind } from '../fault.ts'

/** A service that is killed, over and over. */
export const killed = (on: Kind, times: number): Fault => ({
  name: `killed-${times}-times`,
  on,
  happens: `the service is killed (SIGKILL) and started again, ${times} times`,
  unnoticed: [],
  endsProcess: true,
  // The embedded database has its log to replay first.
  recoveryMs: on === 'embedded' ? 10_000 : 3000,
  async inject({ service }) {
    for (let time = 0; time < times; time++) {
      if (time > 0) await setTimeout(1000)
      await service.end('SIGKILL')
      await service.start()
    }
  },
})

const restarted = (on: Kind): Fault => ({
  name: 'restarted',
  on,
  happens: 'the service is stopped (SIGTERM) and started again',
  unnoticed: [],
  endsProcess: true,
  recoveryMs: 3000,
  async inject({ service }) {
    await service.end('SIGTERM')
    await service.start()
  },
})

export const PROCESS_FAULTS = [killed('server', 10), restarted('server')]

export const EMBEDDED_PROCESS_FAULTS = [killed('embedded', 3), restarted('embedded')]
