import { type Config, mistypedSettings } from '#src/config.ts'
import type { Group } from './examination.ts'
import { type Finding, note, ok, warning } from './finding.ts'

/** Supervisors give a service so long before they kill it: Docker 10 s, Kubernetes 30 s, systemd 90 s. */
const SHORT_STOP_MS = 10_000

/** Whoever has a stolen access token can use it for so long. */
const LONG_TOKEN_MINUTES = 60

/** A setting, or several together, that may not do what somebody wanted. */
interface Doubt {
  about: (config: Config) => boolean
  finding: Finding
}

const DOUBTS: Doubt[] = [
  {
    about: ({ DATABASE_URL, DATABASE_READ_URL }) =>
      DATABASE_READ_URL !== undefined && DATABASE_URL === undefined,
    finding: warning(
      'DATABASE_READ_URL is set and DATABASE_URL is not: the embedded database is used, which has no replica.',
      'Set DATABASE_URL, or leave out DATABASE_READ_URL.',
    ),
  },
  {
    about: ({ DATABASE_URL, DATABASE_READ_URL }) =>
      DATABASE_READ_URL !== undefined && DATABASE_READ_URL === DATABASE_URL,
    finding: note(
      'DATABASE_READ_URL is the same as DATABASE_URL: a process takes twice as many connections, and gains nothing.',
      'Leave out DATABASE_READ_URL.',
    ),
  },
  {
    about: ({ DATABASE_URL, DEMO_DATA }) => DATABASE_URL !== undefined && DEMO_DATA,
    finding: note(
      'DEMO_DATA is true on a server: synthetic values are published while nothing real is.',
      'Set it to false where people might take them for advice.',
    ),
  },
  {
    about: ({ BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES }) => BODY_LIMIT_BYTES > BATCH_BODY_LIMIT_BYTES,
    finding: warning(
      'BODY_LIMIT_BYTES is more than BATCH_BODY_LIMIT_BYTES: callers with a token may send less than those without.',
      'Set BATCH_BODY_LIMIT_BYTES to as much or more.',
    ),
  },
  {
    about: ({ SHUTDOWN_DELAY_MS }) => SHUTDOWN_DELAY_MS >= SHORT_STOP_MS,
    finding: note(
      'SHUTDOWN_DELAY_MS is 10 seconds or more: a supervisor may kill the service before it has stopped in order.',
      'Give it longer: stop_grace_period of compose, terminationGracePeriodSeconds, TimeoutStopSec.',
    ),
  },
  {
    about: ({ ACCESS_TOKEN_MINUTES }) => ACCESS_TOKEN_MINUTES > LONG_TOKEN_MINUTES,
    finding: note(
      'ACCESS_TOKEN_MINUTES is more than an hour: that is how long a stolen access token can be used.',
      'Clients can renew tokens by themselves: set it to 15.',
    ),
  },
  {
    about: ({ MAIL_FROM, SMTP_URL }) => MAIL_FROM !== undefined && SMTP_URL === undefined,
    finding: warning('MAIL_FROM is set and SMTP_URL is not: no mail is sent.', 'Set SMTP_URL.'),
  },
  {
    about: ({ EMAIL_CONFIRMATION, EMAIL_CONFIRMATION_URL }) =>
      EMAIL_CONFIRMATION_URL !== undefined && EMAIL_CONFIRMATION === 'off',
    finding: note(
      'EMAIL_CONFIRMATION_URL is set and EMAIL_CONFIRMATION is off: no e-mail is confirmed.',
      'Set EMAIL_CONFIRMATION=required, or leave out the URL.',
    ),
  },
]

/** Settings that are valid each for itself, and may not do together what was meant. */
export const settings: Group<Config> = {
  group: 'settings',
  questions: {
    configuration: (config) => {
      const doubts = [
        ...mistypedSettings().map(({ name, meant }) =>
          warning(`${name} is no setting of the service.`, `Did you mean ${meant}?`),
        ),
        ...DOUBTS.filter(({ about }) => about(config)).map(({ finding }) => finding),
      ]
      return doubts.length > 0 ? doubts : [ok('The settings are valid, and none contradicts another.')]
    },
  },
}
