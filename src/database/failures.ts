import { codeOf } from '#src/lib/caught.ts'

/** Node's codes of connections that cannot be made or have broken. */
const CONNECTION_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN)$/

/**
 * SQLSTATEs: connection exceptions, refused credentials, no such database, too many connections,
 * shutdown and start-up of the server, a transaction that was idle for too long, a replica that had to
 * cancel the query to keep up.
 */
const UNAVAILABLE_STATES = /^(08...|28...|3D000|53300|57P0[1-5]|25P03|40001)$/

const STATEMENT_TIMEOUT = '57014'

/** What pg, its pool and our own deadline say, which have no code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client (has encountered|was closed)|no answer within|the embedded database (ended|is closed|could not be started))/

/** Whether an error means that the database did not answer, rather than that it said no. */
export function isDatabaseUnavailable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code !== undefined && (CONNECTION_CODES.test(code) || UNAVAILABLE_STATES.test(code))) return true
  return code === STATEMENT_TIMEOUT || CONNECTION_MESSAGES.test(error.message)
}
