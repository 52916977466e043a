import { describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'

const MAIL = { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'noreply@example.org' }
const PAGE = 'must be a URL such as https://app.example.org/page#token={token}'

describe('mail is not half configured', () => {
  test.each([
    [{ SMTP_URL: 'mail.example.org' }, 'SMTP_URL must match pattern "^smtps?://"'],
    [
      { SMTP_URL: 'smtp://mail.example.org' },
      'SMTP_URL needs MAIL_FROM, the sender such as Advisory <noreply@example.org>',
    ],
    [
      { EMAIL_CONFIRMATION: 'required' },
      'EMAIL_CONFIRMATION=required needs SMTP_URL, which the mails go through',
    ],
    [
      { ...MAIL, EMAIL_CONFIRMATION: 'maybe' },
      'EMAIL_CONFIRMATION must be equal to one of the allowed values',
    ],
    ...['nobody', 'a@b, c@d', 'Name <a@b', 'Name, Inc <a@b>', 'a@b\r\nBcc: c@d'].map((sender) => [
      { ...MAIL, MAIL_FROM: sender },
      'MAIL_FROM must be one sender such as noreply@example.org or Advisory <noreply@example.org>',
    ]),
    [{ PASSWORD_RESET_URL: 'https://app.example.org/reset' }, `PASSWORD_RESET_URL ${PAGE}`],
    [{ PASSWORD_RESET_URL: 'javascript:{token}' }, `PASSWORD_RESET_URL ${PAGE}`],
    [{ EMAIL_CONFIRMATION_URL: '{token}' }, `EMAIL_CONFIRMATION_URL ${PAGE}`],
  ] as [Record<string, string>, string][])('%j is refused', (environment, rule) => {
    expect(() => loadConfig(environment)).toThrow(`The configuration is not valid: ${rule}.`)
  })

  test('what is right is taken as it is', () => {
    const settings = {
      SMTP_URL: 'smtps://user:pass@mail.example.org:465',
      MAIL_FROM: 'Advisory <noreply@example.org>',
      EMAIL_CONFIRMATION: 'required',
      EMAIL_CONFIRMATION_URL: 'https://app.example.org/confirm?t={token}',
    }
    expect(loadConfig(settings)).toMatchObject(settings)
    expect(loadConfig({}).EMAIL_CONFIRMATION).toBe('off')
  })
})
