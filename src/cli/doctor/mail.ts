import type { Config } from '#src/config.ts'
import { messageOf } from '#src/lib/caught.ts'
import { tryMailServer } from '#src/lib/mailer.ts'
import type { Group } from './examination.ts'
import { note, ok, warning } from './finding.ts'

/** Whether mails can be sent; none is. */
export const mail: Group<Config> = {
  group: 'mail',
  questions: {
    server: async ({ SMTP_URL }) => {
      if (SMTP_URL === undefined) {
        return [
          note(
            'No mail server is set: users cannot reset their passwords.',
            'Set SMTP_URL and MAIL_FROM, or help with `agro users reset`.',
          ),
        ]
      }
      try {
        await tryMailServer(SMTP_URL)
        return [ok('The mail server lets the service in.')]
      } catch (caught) {
        return [
          warning(
            `The mail server cannot be used: ${messageOf(caught)}.`,
            'Mails are given up after a minute: look at SMTP_URL and the network between.',
          ),
        ]
      }
    },
  },
}
