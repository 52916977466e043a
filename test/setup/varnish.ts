import { spawn, spawnSync } from 'node:child_process'
import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { freePort, stopProcess } from '#bench/processes.ts'
import { newFolder } from './folders.ts'
import { PATIENCE } from './patience.ts'

/** Whether Debian's Varnish is not installed. */
export const MISSING = spawnSync('varnishd', ['-V']).error !== undefined

/** Whom nothing belongs to. */
const NOBODY = 65_534

/** Varnish in front of a service. */
export interface Varnish {
  url: string
  stop(): Promise<void>
}

/** Starts Varnish with the configuration that operators are given, but for where the service is. */
export async function startVarnish(servicePort: number): Promise<Varnish> {
  const folder = await newFolder()
  const file = join(folder, 'advisory.vcl')
  const configuration = readFileSync('ops/varnish/advisory.vcl', 'utf8')
  writeFileSync(file, configuration.replace('"3001"', `"${servicePort}"`))
  const port = await freePort()
  const listen = ['-a', `127.0.0.1:${port}`, '-f', file, '-n', join(folder, 'work'), '-s', 'malloc,16m']
  const command = ['varnishd', '-F', ...listen]
  if (process.getuid?.() === 0) {
    // As root it would write as several others.
    chownSync(folder, NOBODY, NOBODY)
    chownSync(file, NOBODY, NOBODY)
    command.unshift('setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups')
  }
  const child = spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (text) => {
    log += text
  })
  await vi.waitFor(() => expect(log).toContain('Child starts'), PATIENCE)
  return { url: `http://127.0.0.1:${port}`, stop: () => stopProcess(child) }
}
