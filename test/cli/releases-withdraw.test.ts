import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import { askFertilizer, onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

const CODE = 'fertilizer-eth-wheat-2026-07-v1'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
  await loadRelease(service.database, onePixelRelease({ Urea: 7 }))
})
afterAll(() => service.close())

const agro = (...parameters: string[]) => runAgro(service.testDatabase, ...parameters)
const ask = () => askFertilizer(service.app, PIXEL_CENTRE)

test('a release that took the place of none is withdrawn by a rollback, and can be published again', async () => {
  expect(await ask()).toMatchObject({ status: 200, values: [7] })
  const asking = await agro('releases', 'rollback', CODE)
  expect([asking.code, asking.stderr]).toEqual([
    1,
    `This withdraws ${CODE}: nothing is there that it took the place of, so its series has no release then: there is no terminal to confirm it. Add --yes.\n`,
  ])
  expect(await ask()).toMatchObject({ status: 200, values: [7] })

  expect(await agro('releases', 'rollback', CODE, '--yes')).toEqual({
    code: 0,
    stdout: `${CODE} is withdrawn.\n`,
    stderr: '',
  })
  expect(await ask()).toMatchObject({ status: 404, code: 'NO_RELEASE' })
  const { stdout } = await agro('audit', '--kind', 'release_withdrawn', '--json')
  expect(stdout).toContain(CODE)
  const again = await agro('releases', 'rollback', CODE, '--yes')
  expect([again.code, again.stderr]).toEqual([
    1,
    `${CODE} is not published: there is nothing to roll back.\n`,
  ])

  // One pixel covers little of the country.
  expect((await agro('releases', 'publish', CODE, '--allow', 'extent')).code).toBe(0)
  expect(await ask()).toMatchObject({ status: 200, values: [7] })
})
