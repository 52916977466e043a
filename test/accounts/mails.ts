import type { Database } from '#src/data/client.ts'
import { createTestApp, type TestApp, type TestAppOptions } from '#test/setup/app.ts'
import { type MailServer, type ReceivedMail, startMailServer } from '#test/setup/mail-server.ts'

export const MAIL_FROM = 'Advisory <noreply@example.org>'

export interface MailingApp extends TestApp {
  mailServer: MailServer
}

/** The service on an empty database, with a mail server. */
export async function createMailingApp(settings: TestAppOptions['settings'] = {}): Promise<MailingApp> {
  const mailServer = await startMailServer()
  const service = await createTestApp({
    template: 'empty',
    settings: { SMTP_URL: mailServer.url, MAIL_FROM, ...settings },
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

/** The token in a mail: the longest word of its kind. */
export function tokenIn({ text }: ReceivedMail): string {
  return /[\w-]{43}/.exec(text)?.[0] as string
}

/** Ends the waits of all who have asked too often. */
export async function endWaits({ writer }: Database): Promise<void> {
  await writer.deleteFrom('auth_throttle').execute()
}
