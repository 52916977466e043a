import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

/** The README's curl commands, each with the answer that stands below it. */
const examples = [...README.matchAll(/```sh\n(curl [\s\S]*?)\n```\n```(?:json|csv)\n([\s\S]*?)\n```/g)].map(
  ([, command = '', answer = '']) => ({ command, answer }),
)

test('the README shows five curl commands', () => {
  expect(examples).toHaveLength(5)
})

test.each(examples)('is answered as the README shows: $command', async ({ command, answer }) => {
  const url = /http:\/\/127\.0\.0\.1:3000([^\s']*)/.exec(command)?.[1] as string
  const payload = /(?:-d|--data-binary) \$?'([^']*)'/.exec(command)?.[1]?.replaceAll('\\n', '\n')
  const type = /-H 'Content-Type: ([^']*)'/.exec(command)?.[1]
  const response = await service.app.inject({
    method: 'POST',
    url,
    ...(payload === undefined ? {} : { payload, headers: { 'content-type': type ?? '' } }),
  })
  expect(response.body.trimEnd().replaceAll('\r\n', '\n')).toBe(answer)
})

test('the README’s table of variables has every setting with its default', () => {
  const rows = [...README.matchAll(/^\| (`[A-Z].*?) \| (.*?) \|/gm)].map(([, names, defaults]) => ({
    names,
    defaults,
  }))
  const documented = rows.flatMap(({ names = '' }) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const config = loadConfig({
    DATABASE_URL: 'postgres://x',
    DATABASE_READ_URL: 'postgres://x',
    JWT_SECRET: 'x'.repeat(32),
    JWT_SECRET_PREVIOUS: 'x'.repeat(32),
  })
  expect(documented.toSorted()).toEqual(Object.keys(config).toSorted())
  for (const { names = '', defaults = '' } of rows) {
    const values = [...names.matchAll(/`(\w+)`/g)].map(([, name]) =>
      String(config[name as keyof typeof config]),
    )
    const shown = [...defaults.matchAll(/`([^`]*)`/g)].map(([, value]) => value)
    if (/none|DATABASE_URL|DEMO_DATA/.test(defaults + names)) continue
    expect(shown, names).toEqual(values)
  }
})
