import type { Database } from '#src/data/database.ts'
import { createTestApp, type TestApp, type TestAppOptions } from '#test/setup/app.ts'
import { type MailServer, type ReceivedMail, startMailServer } from '#test/setup/mail-server.ts'
import { openFor } from '#test/setup/open-service.ts'

export const MAIL_FROM = 'Advisory <noreply@example.org>'

export interface MailingApp extends TestApp {
  mailServer: MailServer
}

/** The service with a mail server, on an empty database if no other is named. */
export async function createMailingApp({ settings, ...options }: TestAppOptions = {}): Promise<MailingApp> {
  const mailServer = await startMailServer()
  const service = await createTestApp({
    template: 'empty',
    settings: { SMTP_URL: mailServer.url, MAIL_FROM, ...settings },
    ...options,
  })
  return {
    ...service,
    mailServer,
    async close() {
      await service.close()
      await mailServer.close()
    },
  }
}

/** Has it run for the tests of a file, or of a `describe`. */
export const openMailingApp = (options?: TestAppOptions): MailingApp =>
  openFor(() => createMailingApp(options))

/** The token in a mail: the longest word of its kind. */
export function tokenIn({ text }: ReceivedMail): string {
  return /[\w-]{43}/.exec(text)?.[0] as string
}

/** Ends the waits of all who have asked too often. */
export async function endWaits({ writer }: Database): Promise<void> {
  await writer.deleteFrom('auth_throttle').execute()
}
