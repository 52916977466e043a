import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { fillDisk } from './disks.ts'
import { EMBEDDED_PROCESS_FAULTS } from './processes.ts'

const crashed: Fault = {
  name: 'thread-ended',
  on: 'embedded',
  happens: 'the thread of the embedded database is ended',
  unnoticed: ['point'],
  recoveryMs: 10_000,
  async inject({ service }) {
    // What `end-worker.mjs` listens to.
    process.kill(service.pid(), 'SIGUSR2')
    await setTimeout(100)
  },
}

const diskFull: Fault = {
  name: 'disk-full-embedded',
  on: 'embedded',
  happens: 'the disk with the folder of the embedded database is full for five seconds',
  unnoticed: ['point'],
  recoveryMs: 15_000,
  needsRoot: true,
  async inject({ folder }) {
    const filler = fillDisk(folder as string)
    await setTimeout(5000)
    rmSync(filler)
  },
}

const readOnlyFolder: Fault = {
  name: 'read-only-folder',
  on: 'embedded',
  happens:
    'the folder of the embedded database cannot be written to for five seconds, and its thread is ended',
  unnoticed: ['point'],
  recoveryMs: 15_000,
  needsRoot: true,
  async inject({ service, folder }) {
    // Files that are open for writing would refuse it: the thread is ended first.
    process.kill(service.pid(), 'SIGUSR2')
    const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, folder as string])
    for (let attempt = 0; ; attempt++) {
      try {
        remount('ro')
        break
      } catch (error) {
        if (attempt === 20) throw error
        await setTimeout(20)
      }
    }
    await setTimeout(5000)
    remount('rw')
  },
}

export const EMBEDDED_FAULTS = [crashed, diskFull, readOnlyFolder, ...EMBEDDED_PROCESS_FAULTS]
