import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { logIn, newPerson, type Person, tryLogIn } from '#test/setup/people.ts'
import { isIn, refresh } from './sessions.ts'

// Runs on a server alone: what a password is worth is the same on both.

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

describe('the password', () => {
  function change(person: Person, current_password: string, new_password = 'and is cut before the rain') {
    return service.app.inject({
      method: 'POST',
      url: '/auth/password',
      headers: person.headers,
      payload: { current_password, new_password },
    })
  }

  test('is changed by whoever knows it, which ends all other sessions', async () => {
    const person = await newPerson(service.app)
    const elsewhere = await logIn(service.app, person.email)
    expect(await isIn(service.app, elsewhere)).toBe(true)
    expect((await change(person, person.password)).statusCode).toBe(204)
    expect(await isIn(service.app, person)).toBe(true)
    expect(await isIn(service.app, elsewhere)).toBe(false)
    expect((await refresh(service.app, elsewhere.refresh_token)).statusCode).toBe(401)
    expect((await refresh(service.app, person.refresh_token)).statusCode).toBe(200)
    expect((await tryLogIn(service.app, person.email, person.password)).statusCode).toBe(401)
    expect((await tryLogIn(service.app, person.email, 'and is cut before the rain')).statusCode).toBe(200)
  })

  test('stays where the current one is wrong', async () => {
    const person = await newPerson(service.app)
    const response = await change(person, 'not the password')
    expect(response.statusCode).toBe(403)
    expect(response.json()).toEqual({
      error: 'The current password is wrong.',
      code: 'FORBIDDEN',
      request_id: expect.any(String),
    })
    expect((await tryLogIn(service.app, person.email, person.password)).statusCode).toBe(200)
  })

  test('cannot become a common one, or the e-mail', async () => {
    const person = await newPerson(service.app)
    for (const bad of ['short', 'password123', person.email.toUpperCase()]) {
      const response = await change(person, person.password, bad)
      expect(response.statusCode).toBe(400)
      expect(response.json().details[0].field).toBe('new_password')
      expect(response.body).not.toContain(bad)
    }
  })

  test('guesses at it are slowed down as at a login', async () => {
    const person = await newPerson(service.app)
    for (let guess = 0; guess < 6; guess++) {
      expect((await change(person, 'not the password')).statusCode).toBe(403)
    }
    // The delay is a second, which a slow machine may need for the next line.
    await sql`
      update auth_throttle set blocked_until = blocked_until + interval '1 minute'
      where blocked_until > last_failure_at`.execute(service.database.writer)
    const response = await change(person, person.password)
    expect(response.statusCode).toBe(429)
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(50)
    await service.database.writer.deleteFrom('auth_throttle').execute()
  })
})
