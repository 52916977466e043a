import type { App } from '../app.ts'
import { CONNECTION_STATES, type Connection } from '../connection.ts'

export type Ended = (reason: EndReason) => void

/** Why the service ends connections. */
const END_REASONS = ['too_many', 'slow_sending', 'slow_reading', 'not_http'] as const

type EndReason = (typeof END_REASONS)[number]

/**
 * Shows how many connections the service has ended.
 *
 * @returns what counts a connection that it ends, but for those that the parser of HTTP ends
 */
export function observeEnds({ server, metrics }: App): Ended {
  const ends = Object.fromEntries(END_REASONS.map((reason) => [reason, 0])) as Record<EndReason, number>
  for (const reason of END_REASONS) {
    metrics.observe('agro_http_connections_ended_total', () => ends[reason], { reason })
  }
  const ended: Ended = (reason) => {
    ends[reason]++
  }
  server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
    // Whoever has reset a connection has ended it.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') ended('slow_sending')
    else if (code !== 'ECONNRESET') ended('not_http')
  })
  return ended
}

/** Shows what goes on over connections: sockets are looked at when they close, and when somebody asks. */
export function observeConnections({ server, metrics, config }: App, open: Iterable<Connection>): void {
  const closed = { received: 0, sent: 0 }
  server.on('connection', (socket) => {
    socket.once('close', () => {
      closed.received += socket.bytesRead
      closed.sent += socket.bytesWritten
    })
  })
  const sum = (measure: (connection: Connection) => number) =>
    [...open].reduce((total, connection) => total + measure(connection), 0)

  metrics.observe('http_requests_in_flight', () => sum((connection) => Number(!connection.isIdle())))
  metrics.observe('http_received_bytes_total', () => closed.received + sum(({ socket }) => socket.bytesRead))
  metrics.observe('http_sent_bytes_total', () => closed.sent + sum(({ socket }) => socket.bytesWritten))
  metrics.observe('agro_http_connections_limit', () => config.MAX_CONNECTIONS)
  for (const state of CONNECTION_STATES) {
    const count = () => sum((connection) => Number(connection.state() === state))
    metrics.observe('agro_http_connections', count, { state })
  }
}
