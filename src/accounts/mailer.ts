import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { createLimiter, EVERYBODY } from '#src/lib/limiter.ts'
import { formatError, type Pauses, readErrorCode } from '#src/lib/promises.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  /** What the log says of it: never what it says. */
  about: Record<string, string>
}

/** Writes a mail when the ones before are sent; undefined where there is nothing to send. */
type WriteMail = () => Promise<Mail | undefined>

export type Mailer = ReturnType<typeof createMailer>

export interface MailerOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  url: string
  from: string
  log: Record<'info' | 'warn', (about: object, message: string) => void>
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  running: 2,
  /** Mails that may wait, those to be tried again among them. */
  waiting: 1000,
  retryMs: [5_000, 60_000] as Pauses,
  /** How long closing may take. */
  closeMs: 4_000,
}

/** A server that does not answer keeps others waiting, so it is given up before a person would. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/** Connects and logs in, as for a mail; throws the obstacle. */
export async function tryMailServer(url: string): Promise<void> {
  const transport = createTransport({ url, ...TIMEOUTS })
  await transport.verify().finally(() => transport.close())
}

/** Sends mails in the background, a few at a time: no request waits for the mail server. */
export function createMailer({ url, from, log, limits }: MailerOptions) {
  const { running, waiting, retryMs, closeMs } = { ...LIMITS, ...limits }
  const transport = createTransport(
    // Whatever a mail is made of, it names no files and no pages to be read.
    { url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true },
    // Asks programs that answer mails not to answer this one (RFC 3834).
    { from, headers: { 'Auto-Submitted': 'auto-generated' } },
  )
  const connections = createLimiter({ running, waiting }, () => new Error('too many mails wait'))
  const mails = new Set<Promise<void>>()
  const closing = new AbortController()
  let isClosed = false
  let sent = 0
  let failed = 0

  async function deliver(write: WriteMail): Promise<void> {
    let mail: Mail | undefined
    async function attempt(): Promise<void> {
      if (isClosed) return
      mail ??= await write()
      if (mail === undefined) return
      const { about, ...content } = mail
      await transport.sendMail(content)
      sent++
      log.info(about, 'a mail was sent')
    }

    for (let attempts = 1; ; attempts++) {
      try {
        return await connections.run(EVERYBODY, attempt)
      } catch (error) {
        failed++
        // What a server refuses for good (5yz) it refuses again.
        const isFinal = answerOf(error) >= 500 || closing.signal.aborted
        const pauseMs = isFinal ? undefined : retryMs[attempts - 1]
        log.warn(
          { ...mail?.about, attempts, reason: reasonOf(error) },
          pauseMs === undefined ? 'a mail could not be sent' : 'a mail could not be sent yet',
        )
        if (pauseMs === undefined) return
        // The close ends the pause.
        await sleep(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      }
    }
  }

  return {
    /** False where too many wait, those with a new attempt among them. */
    send(write: WriteMail): boolean {
      if (closing.signal.aborted || mails.size - connections.state().running >= waiting) return false
      const delivery = deliver(write).finally(() => mails.delete(delivery))
      mails.add(delivery)
      return true
    },
    /** Tries waiting mails once more, for a short time, and logs the number of lost ones. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.race([Promise.all(mails), sleep(closeMs, undefined, { ref: false })])
      isClosed = true
      if (mails.size > 0) log.warn({ mails: mails.size }, 'mails were not sent: the service has stopped')
      transport.close()
    },
    state: () => ({ waiting: mails.size, sent, failed }),
  }
}

/** Why a mail could not be sent. A server may repeat what was in the mail: of its answer goes the number. */
function reasonOf(error: unknown): string {
  const answer = answerOf(error)
  return answer > 0
    ? `the mail server answered ${answer}`
    : formatError(error) || (readErrorCode(error) ?? 'unknown')
}

function answerOf(error: unknown): number {
  const answer = error instanceof Error && 'responseCode' in error ? error.responseCode : undefined
  return typeof answer === 'number' ? answer : 0
}
