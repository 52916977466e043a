import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'

/** The server of a setting cannot be connected to. */
export class DatabaseUnreachable extends OperatorError {
  /** The first thing that an operator can do about it. */
  readonly step: string

  constructor(place: string, setting: string, cause: unknown) {
    const reason = messageOf(cause) || codeOf(cause)
    super(`The database ${place} cannot be reached: ${reason}.`, { cause, code: 'DATABASE_UNAVAILABLE' })
    this.step = stepFor(`${codeOf(cause)} ${reason}`, setting)
  }
}

/** By the code and the message of an error, of the server, a pooler, Node or pg. */
const STEPS: [RegExp, (setting: string) => string][] = [
  [
    /^28P01|password authentication failed|password must be a string/,
    (setting) => `Put the right user and password into ${setting}, or into the file of ${setting}_FILE.`,
  ],
  [/pg_hba\.conf/, () => 'Let the role in from this machine, by a line of pg_hba.conf.'],
  [/^28/, (setting) => `Create the role with docker/database.sh, or put another one into ${setting}.`],
  [
    /^3D000|no such database/,
    (setting) =>
      `Create the database and prepare it with docker/database.sh, or put another one into ${setting}.`,
  ],
  [/^53300/, () => 'Raise max_connections, pool with PgBouncer, or lower DATABASE_POOL_SIZE.'],
  [/^57P03/, () => 'Wait until the server has started: its log says how far it is.'],
  [/^ECONNREFUSED/, (setting) => `Start the server, or put its host and port into ${setting}.`],
  [/^(ENOTFOUND|EAI_AGAIN)/, (setting) => `Put the right host into ${setting}: its name has no address.`],
  [
    /^(ETIMEDOUT|EHOST|ENET)|timeout/,
    (setting) => `Look at firewalls and routes to the server, and at the host and port in ${setting}.`,
  ],
  [
    /SSL|TLS|CERT/i,
    (setting) => `Look at sslmode and sslrootcert in ${setting}, and at the certificate of the server.`,
  ],
]

function stepFor(error: string, setting: string): string {
  const step = STEPS.find(([pattern]) => pattern.test(error))?.[1]
  return step ? step(setting) : `Look at ${setting}, at the log of the server and at the network between.`
}
