import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { register } from '#test/setup/people.ts'
import { letPass, longestDelay } from './delays.ts'
import { endWaits } from './mails.ts'

// Runs on a server alone: whose address counts is the same on both.

let service: TestApp
let email: string
beforeAll(async () => {
  service = await createTestApp({ template: 'empty', settings: { TRUSTED_PROXIES: '10.9.0.0/16, ::1' } })
})
afterAll(() => service.close())
beforeEach(async () => {
  email = await register(service.app)
  await endWaits(service.database)
})

test('an address is the one that a trusted proxy names, and no other', async () => {
  const tryThrough = (proxy: string, client: string, password: string) =>
    service.app.inject({
      method: 'POST',
      url: '/auth/login',
      payload: { email, password },
      remoteAddress: proxy,
      headers: { 'x-forwarded-for': client },
    })
  for (let count = 0; count < 6; count++) await tryThrough('10.9.1.1', '198.51.100.1', 'wrong')
  expect(await longestDelay(service.database)).toBe(1)
  await letPass(service.database, 3601)
  for (let count = 0; count < 6; count++) await tryThrough('10.9.1.1', `198.51.100.${count}`, 'wrong')
  expect(await longestDelay(service.database)).toBe(0)
  // Whoever is not trusted cannot escape by making up addresses.
  for (let count = 0; count < 6; count++) await tryThrough('203.0.113.5', `192.0.2.${count}`, 'wrong')
  expect(await longestDelay(service.database)).toBe(1)
  await letPass(service.database, 1)
  await tryThrough('10.9.1.1', '1.1.1.1, 203.0.113.5', 'wrong')
  expect(await longestDelay(service.database)).toBe(2)
})

test('an address is the same with each port that a proxy writes behind it, and so is the proxy', async () => {
  for (let port = 1; port <= 6; port++) {
    await service.app.inject({
      method: 'POST',
      url: '/auth/login',
      payload: { email, password: 'wrong' },
      remoteAddress: '10.9.1.1',
      headers: { 'x-forwarded-for': `198.51.100.1:${port}, 10.9.2.2:${port}` },
    })
  }
  expect(await longestDelay(service.database)).toBe(1)
})

test('addresses that are none are one', async () => {
  for (let count = 1; count <= 6; count++) {
    await service.app.inject({
      method: 'POST',
      url: '/auth/login',
      payload: { email, password: 'wrong' },
      remoteAddress: '10.9.1.1',
      headers: { 'x-forwarded-for': `made-up-${count}` },
    })
  }
  expect(await longestDelay(service.database)).toBe(1)
})
