import { describe, expect, test } from 'vitest'
import { startService } from '#test/setup/service-process.ts'

describe('a configuration that is not valid is named in a sentence', () => {
  test.each([
    ['PORT', 'eighty', 'PORT must be integer'],
    ['PORT', '65536', 'PORT must be <= 65535'],
    ['DEMO_DATA', 'yes', 'DEMO_DATA must be boolean'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be equal to one of the allowed values'],
    ['DATABASE_URL', 'mysql://localhost/agro', 'DATABASE_URL must match pattern "^postgres(ql)?://"'],
  ])('%s=%s', async (variable, value, rule) => {
    const service = startService({ [variable]: value })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toContain(`The configuration is not valid: ${rule}`)
    expect(service.stderr().split('\n')).toHaveLength(2)
  })
})
