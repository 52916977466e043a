import pg from 'pg'

/** A connection of its own for a question that is asked again and again, which says in time whether there is an answer. */
export interface Probe {
  /** Asks for one row; where none comes in time, the connection is cut, and the next question has a new one. */
  ask<Row>(statement: string): Promise<Row>
  /** Has the next question go over a new connection. */
  renew(): void
  close(): void
}

/** An answer takes a millisecond, and a new connection some ten. */
const DEADLINE_MS = 400

export function createProbe(url: string): Probe {
  let client: pg.Client | undefined
  let closed = false

  function cut(): void {
    client?.connection.stream.destroy()
    client = undefined
  }

  async function answerTo<Row>(statement: string): Promise<Row> {
    if (closed) throw new Error('the probe is closed')
    if (!client) {
      client = new pg.Client({ connectionString: url, application_name: 'agro-advisory probe' })
      client.on('error', () => {})
      await client.connect()
    }
    return (await client.query(statement)).rows[0]
  }

  return {
    async ask<Row>(statement: string) {
      let deadline: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        deadline = setTimeout(() => {
          // Where this process was busy, the answer may be there and unread: it is read before this is said.
          setImmediate(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)))
        }, DEADLINE_MS).unref()
      })
      try {
        return await Promise.race([answerTo<Row>(statement), late])
      } catch (error) {
        cut()
        throw error
      } finally {
        clearTimeout(deadline)
      }
    },
    renew: cut,
    close() {
      closed = true
      cut()
    },
  }
}
