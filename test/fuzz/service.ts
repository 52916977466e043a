import { type MailServer, startMailServer } from '#test/setup/mail-server.ts'

/** A mail server for a service to be fuzzed. */
export interface Mails {
  /** What makes real state of every sort possible. */
  settings: Record<string, string>
  /** The newest token that an address was sent. */
  mailedToken(email: string): string | undefined
  close: MailServer['close']
}

export async function startMails(): Promise<Mails> {
  const mailServer = await startMailServer()
  return {
    settings: {
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'noreply@example.org',
      // Every case comes from an address of its own: what slows down one that guesses would end the run.
      TRUSTED_PROXIES: '127.0.0.1',
    },
    mailedToken(email) {
      const mail = mailServer.mails.findLast(({ to }) => to.includes(email))
      return mail && /[\w-]{43}/.exec(mail.text)?.[0]
    },
    close: () => mailServer.close(),
  }
}
