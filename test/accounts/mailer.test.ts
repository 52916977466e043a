import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMailer, type MailerOptions } from '#src/accounts/mailer.ts'
import { type MailServer, startMailServer } from '#test/setup/mail-server.ts'
import { PATIENCE } from '#test/setup/patience.ts'

let server: MailServer
let log: { level: string; about: Record<string, unknown>; message: string }[]
beforeEach(async () => {
  server = await startMailServer()
  log = []
})
afterEach(() => server.close())

const SECRET = 'the token of a mail'

test('a mail goes to its reader alone, through TLS where the server has it, and tells programs not to answer', async () => {
  const mailer = mailerTo(server.url)
  expect(mailer.send(async () => mail())).toBe(true)
  const { headers, ...received } = await server.next()
  expect(received).toEqual({
    from: 'noreply@example.org',
    to: ['amina@example.org'],
    text: `${SECRET}\n`,
    secure: true,
  })
  expect(headers).toContain('From: Advisory <noreply@example.org>\r\n')
  expect(headers).toContain('Auto-Submitted: auto-generated\r\n')
  await mailer.close()
  expect(log).toEqual([{ level: 'info', about: { user: '7' }, message: 'a mail was sent' }])
})

describe('a mail that a server does not take', () => {
  test('is tried again twice, and then no more; neither it nor the answer is logged', async () => {
    server.answer = 451
    const mailer = mailerTo(server.url)
    const write = vi.fn(async () => mail())
    mailer.send(write)
    await vi.waitFor(() => expect(log).toHaveLength(3), PATIENCE)
    const line = (attempts: number, message: string) => ({
      level: 'warn',
      about: { user: '7', attempts, reason: 'the mail server answered 451' },
      message,
    })
    expect(log).toEqual([
      line(1, 'a mail could not be sent yet'),
      line(2, 'a mail could not be sent yet'),
      line(3, 'a mail could not be sent'),
    ])
    await mailer.close()
    expect([server.offered(), write.mock.calls.length]).toEqual([3, 1])
  })

  test('is not tried again where the answer is final', async () => {
    server.answer = 500
    const mailer = mailerTo(server.url)
    mailer.send(async () => mail())
    await mailer.close()
    expect(server.offered()).toBe(1)
    expect(log.map(({ message }) => message)).toEqual(['a mail could not be sent'])
  })

  test('because its certificate is nobody’s does not get it at all', async () => {
    const mailer = mailerTo(`smtp://127.0.0.1:${server.port}`, { retryMs: [] })
    mailer.send(async () => mail())
    await mailer.close()
    expect(server.offered()).toBe(0)
    expect(log[0]?.about.reason).toMatch(/self-signed certificate/)
  })
})

test('a server that is down, or a mail that cannot be written, is told of', async () => {
  await server.close()
  const mailer = mailerTo(server.url, { retryMs: [] })
  mailer.send(async () => mail())
  mailer.send(async () => {
    throw new Error('the database is away')
  })
  await mailer.close()
  expect(log.map(({ about }) => about.reason).sort()).toEqual([
    `connect ECONNREFUSED 127.0.0.1:${server.port}`,
    'the database is away',
  ])
  server = await startMailServer()
})

test('so many may wait, those to be tried again among them', async () => {
  server.answer = 451
  const mailer = mailerTo(server.url, { running: 1, waiting: 2, retryMs: [3_600_000] })
  expect(mailer.send(async () => mail())).toBe(true)
  await vi.waitFor(() => expect(log).toHaveLength(1), PATIENCE)
  let release = (_nothing: undefined): void => {}
  expect(mailer.send(() => new Promise<undefined>((resolve) => (release = resolve)))).toBe(true)
  expect(mailer.send(async () => undefined)).toBe(true)
  expect(mailer.send(async () => undefined)).toBe(false)
  release(undefined)
  await mailer.close()
})

describe('closing', () => {
  test('sends what is under way and what waits, tries once more what failed, and takes no more', async () => {
    server.answer = 451
    const mailer = mailerTo(server.url, { retryMs: [3_600_000] })
    mailer.send(async () => mail('late@example.org'))
    await vi.waitFor(() => expect(log).toHaveLength(1), PATIENCE)
    server.answer = 250
    const others = ['a@example.org', 'b@example.org', 'c@example.org']
    for (const to of others) mailer.send(async () => mail(to))
    await mailer.close()
    expect(server.mails.map(({ to }) => to[0]).sort()).toEqual([...others, 'late@example.org'])
    expect(mailer.send(async () => mail())).toBe(false)
  })

  test('does not wait long for a server that is silent, and says how many mails are lost', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const mailer = mailerTo(`smtp://127.0.0.1:${port}`, { running: 2, closeMs: 50 })
    for (let count = 0; count < 5; count++) mailer.send(async () => mail())
    await mailer.close()
    expect(log).toEqual([
      { level: 'warn', about: { mails: 5 }, message: 'mails were not sent: the service has stopped' },
    ])
  })
})

function mailerTo(url: string, limits: MailerOptions['limits'] = { retryMs: [1, 1] }) {
  const logged = (level: string) => (about: object, message: string) => {
    log.push({ level, about: { ...about }, message })
  }
  return createMailer({
    url,
    from: 'Advisory <noreply@example.org>',
    log: { info: logged('info'), warn: logged('warn') },
    limits,
  })
}

const mail = (to = 'amina@example.org') => ({ to, subject: 'Hello', text: SECRET, about: { user: '7' } })
