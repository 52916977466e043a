import { expect, test } from 'vitest'
import { withOtherService } from '#test/accounts/other-service.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { turnOn } from '#test/setup/two-factor.ts'

const service = openService()

test('an account with a second factor is not open without it where the extension is off', async () => {
  const { person } = service
  const { recoveryCodes } = await turnOn(service.app, person)
  const { email, password } = person
  await withOtherService(service, { EXTENSIONS: '-second-factor' }, async (app) => {
    const logIn = (more: object) =>
      call(app, 'POST /auth/login', { payload: { email, password, ...more } }).then(({ status, body }) => [
        status,
        body.code,
      ])
    expect(await logIn({})).toEqual([401, 'TWO_FACTOR_REQUIRED'])
    expect(await logIn({ recovery_code: recoveryCodes[0] })).toEqual([200, undefined])
    expect((await call(app, 'GET /auth/two-factor', { by: person })).status).toBe(404)
  })
})
