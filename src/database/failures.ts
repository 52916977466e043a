/** Node's codes of connections that cannot be made or have broken. */
const CONNECTION_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/

/** SQLSTATEs: connection exceptions, too many connections, shutdown and start-up of the server. */
const UNAVAILABLE_STATES = /^(08...|53300|57P0[1-5]|25P03)$/

const STATEMENT_TIMEOUT = '57014'

/** What pg, its pool and our own deadline say, which have no code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered|was closed)|no answer within|the embedded database (ended|is closed))/

/** Whether an error means that the database did not answer, rather than that it said no. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== undefined && (CONNECTION_CODES.test(code) || UNAVAILABLE_STATES.test(code))) return true
  return code === STATEMENT_TIMEOUT || CONNECTION_MESSAGES.test(message)
}
