import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PATIENCE } from '#test/setup/patience.ts'

const HELD_MEMORY = fileURLToPath(new URL('../../abuse/held-memory.mjs', import.meta.url))
const MIB = 2 ** 20

/** Bytes that a process says it holds, which has filled buffers of so many MiB, and keeps some of them. */
async function heldBy(filled: number, kept: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'agro-held-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'held')
  const code = `
    globalThis.kept = Array.from({ length: ${filled} }, () => Buffer.alloc(${MIB}, 1)).slice(0, ${kept})
    setInterval(() => {}, 1000)
    console.log('ready')`
  const child = spawn(process.execPath, ['--import', HELD_MEMORY, '-e', code], {
    env: { ...process.env, HELD_MEMORY_FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGUSR2')
  await vi.waitUntil(() => existsSync(file), PATIENCE)
  return Number(readFileSync(file, 'utf8'))
}

test('memory that is held is what something is still in, without garbage', async () => {
  const nothing = await heldBy(30, 0)
  const some = await heldBy(30, 10)
  expect(Math.round((some - nothing) / MIB)).toBe(10)
})
