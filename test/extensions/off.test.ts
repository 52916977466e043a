import { describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { withDependents } from '#test/setup/dependents.ts'
import { openService } from '#test/setup/open-service.ts'

const NAMES = EXTENSIONS.map(({ name }) => name)

const settingOf = (names: string[]) => names.map((name) => `-${name}`).join()

describe('EXTENSIONS', () => {
  test.each(NAMES)('-%s is taken with those that need it, and refused without', (name) => {
    const [, ...dependents] = withDependents(name)
    expect(() => loadConfig({ EXTENSIONS: settingOf(withDependents(name)) })).not.toThrow()
    if (dependents.length === 0) return
    expect(() => loadConfig({ EXTENSIONS: `-${name}` })).toThrow(
      new RegExp(`EXTENSIONS has -${name}, which (${dependents.join('|')}) needs: write -\\1 too`),
    )
  })

  test('refuses a name that is unknown, and one without its sign', () => {
    expect(() => loadConfig({ EXTENSIONS: '-nothing' })).toThrow('EXTENSIONS names nothing, and there are ')
    expect(() => loadConfig({ EXTENSIONS: 'agents' })).toThrow(
      'EXTENSIONS lists those that are off: write -agents, or leave it out',
    )
  })
})

test.each(
  EXTENSIONS.flatMap(({ name, settings }) =>
    Object.keys(settings?.operated ?? {}).map((setting) => [setting, name] as const),
  ),
)('%s ends the start where its extension %s is off, for it would have no effect', (setting, name) => {
  const off = settingOf(withDependents(name))
  const { settings } = EXTENSIONS.find((one) => one.name === name) ?? {}
  const schema = settings?.operated?.[setting] as { examples?: unknown[]; default?: unknown; type?: string }
  const value = String(schema.examples?.[0] ?? schema.default ?? 'x')
  expect(() => loadConfig({ EXTENSIONS: off, [setting]: value })).toThrow(
    `${setting} has no effect with EXTENSIONS=-${name}: leave out one of them`,
  )
})

describe('without any extension', () => {
  const service = openService({ settings: { EXTENSIONS: settingOf(NAMES) } })

  test('points are answered, and the service lists none', async () => {
    const point = await service.get('/advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth')
    expect(point.status).toBe(200)
    const { body } = await service.get('/')
    expect(body.extensions).toEqual([])
    expect((await service.get('/catalog')).body.extensions).toEqual([])
    for (const { links = {} } of EXTENSIONS)
      for (const name of Object.keys(links)) expect(body).not.toHaveProperty(name)
  })

  test('the document has no tag, error or operation of one', async () => {
    const { body } = await service.get('/openapi.json')
    const codes: string[] = body.components.schemas.ErrorCode.enum
    const tags: string[] = body.tags.map(({ name }: { name: string }) => name)
    for (const { errors = {}, tag, loginStep } of EXTENSIONS) {
      // Accounts may have the step on.
      if (!loginStep) for (const code of Object.keys(errors)) expect(codes).not.toContain(code)
      if (tag) expect(tags).not.toContain(tag.name)
    }
  })
})
