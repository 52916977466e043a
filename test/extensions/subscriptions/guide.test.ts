import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { freePort } from '#bench/processes.ts'
import { newSecret } from '#src/extensions/subscriptions/queries.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const guide = readFileSync('docs/guide/subscriptions.md', 'utf8')

const codeIn = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\n\`\`\``).exec(guide)?.[1] ?? ''

const hasPython = spawnSync('python3', ['--version']).status === 0

let receiver: ChildProcess | undefined
afterEach(() => {
  receiver?.kill('SIGKILL')
})

test.each([
  ['js', process.execPath, 'receiver.mjs'],
  ['python', 'python3', 'receiver.py'],
])('the receiver in %s takes what is signed, once, and nothing else', async (language, program, file) => {
  if (language === 'python' && !hasPython) return
  // Beside the tests, so that it finds the package.
  const folder = language === 'js' ? join(process.cwd(), 'node_modules/.cache') : await newFolder()
  const path = join(folder, `${process.pid}-${file}`)
  writeFileSync(path, codeIn(language))
  const [secret, port] = [newSecret(), await freePort()]
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) }
  receiver = spawn(program, [path], { env })
  let printed = ''
  receiver.stdout?.on('data', (text) => {
    printed += text
  })
  const event = /```json\n([\s\S]*?)\n```/.exec(guide)?.[1] as string
  const id = JSON.parse(event).id as string

  /** Sends an event as it was signed, unless somebody has changed it on the way. */
  async function post({ at = new Date(), key = secret, body = event, sentId = id } = {}): Promise<number> {
    const headers = {
      'webhook-id': sentId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      // The first one is of a secret that was renewed.
      'webhook-signature': `${new Webhook(newSecret()).sign(id, at, event)} ${new Webhook(key).sign(id, at, event)}`,
    }
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status
  }

  await vi.waitFor(async () => expect(await post()).toBe(204), PATIENCE)
  expect(await post()).toBe(204)
  const wrong = [{ at: new Date(Date.now() - 600_000) }, { key: newSecret() }]
  for (const change of [...wrong, { body: event.replace('2842', '9999') }, { sentId: randomUUID() }])
    expect([change, await post(change)]).toEqual([change, 400])
  await vi.waitFor(() => expect(printed.match(/My field/g)).toHaveLength(1), PATIENCE)
})
