import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const UNITS = readdirSync(join(ROOT, 'ops/systemd')).filter((name) => /\.(service|timer)$/.test(name))

/** Debian's package `systemd` has it. */
const hasSystemd = !spawnSync('systemd-analyze', ['--version']).error
if (!hasSystemd) console.log('systemd-analyze is not there: units are not verified')

test.skipIf(!hasSystemd)('systemd has nothing to say of the units', async () => {
  const machine = await newFolder()
  await installedIn(machine)
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', `--root=${machine}`, ...UNITS], {
    encoding: 'utf8',
  })
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' })
})

/** A machine as docs/operations.md makes it, as far as units refer to it. */
async function installedIn(machine: string): Promise<void> {
  for (const folder of ['docs', 'ops']) {
    await cp(join(ROOT, folder), join(machine, 'opt/agro-advisory', folder), { recursive: true })
  }
  await cp(join(ROOT, 'ops/systemd'), join(machine, 'etc/systemd/system'), { recursive: true })
  for (const program of ['usr/bin/node', 'bin/sh']) {
    await mkdir(join(machine, dirname(program)), { recursive: true })
    await writeFile(join(machine, program), '')
    await chmod(join(machine, program), 0o755)
  }
  await cp('/lib/systemd/system', join(machine, 'usr/lib/systemd/system'), { recursive: true })
}
