import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { clusterOf, serverFault, serverOf } from './server.ts'

/** A file system of its own, which can be full and read-only. It takes root, and Linux. */
export function mountDisk(folder: string, megabytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export function unmountDisk(folder: string): void {
  execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' })
}

/** Writes until there is no room left. */
export function fillDisk(folder: string): string {
  const path = join(folder, 'filler')
  const file = openSync(path, 'w')
  try {
    for (const block of [Buffer.alloc(2 ** 20), Buffer.alloc(4096)]) {
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(file)
  }
  return path
}

const diskFull = serverFault(
  'disk-full',
  'the disk with the history is full for five seconds',
  async (stage) => {
    const [cluster, { execute }] = [clusterOf(stage), serverOf(stage)]
    const folder = join(cluster.folder, 'small')
    mkdirSync(folder)
    if (!mountDisk(folder, 4)) throw new Error('no disk can be mounted here')
    const { uid, gid } = statSync(cluster.folder)
    chownSync(folder, uid, gid)
    chmodSync(folder, 0o700)
    await execute(`create tablespace small location '${folder}'`)
    await execute(historyTo('small'))
    const filler = fillDisk(folder)
    await setTimeout(5000)
    rmSync(filler)
    await setTimeout(200)
    await execute(historyTo('pg_default'))
    await execute('checkpoint')
    await execute('drop tablespace small')
    unmountDisk(folder)
  },
  {
    unnoticed: [
      'point',
      'point from the database',
      'batch',
      'catalog',
      'kept point',
      'history',
      'login',
      'refresh',
      'registration',
    ],
    recoveryMs: 1000,
    needsRoot: true,
  },
)

/** Moves the partitions of the history, which the table of them has not got a say in. */
function historyTo(tablespace: string): string {
  return `do $$
    declare
      month regclass;
    begin
      for month in select inhrelid::regclass from pg_inherits where inhparent = 'history_item'::regclass loop
        execute format('alter table %s set tablespace ${tablespace}', month);
      end loop;
    end $$`
}

export const DISK_FAULTS = [diskFull]
