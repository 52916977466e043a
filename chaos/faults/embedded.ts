import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { fillDisk, unmountDisk } from './disks.ts'
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
    // Another mount of the same, since files are open for writing in the first one.
    execFileSync('mount', ['--bind', folder as string, folder as string])
    execFileSync('mount', ['-o', 'remount,bind,ro', folder as string])
    process.kill(service.pid(), 'SIGUSR2')
    await setTimeout(5000)
    unmountDisk(folder as string)
  },
}

export const EMBEDDED_FAULTS = [crashed, diskFull, readOnlyFolder, ...EMBEDDED_PROCESS_FAULTS]
