import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { Pauses } from '#src/lib/retry.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  /** What the log says of it: never what it says. */
  about: Record<string, string>
}

/** Writes a mail when its turn comes; undefined where there is nothing to send. */
type WriteMail = () => Promise<Mail | undefined>

export interface Mailer {
  /** Sends a mail in the background; false where too many wait already. */
  send(write: WriteMail): boolean
  /** Tries what waits once more, for a short time, and logs how much is lost. */
  close(): Promise<void>
  /** How many mails wait, and how attempts at sending one have ended so far. */
  state(): { waiting: number; sent: number; failed: number }
}

export interface MailerOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  url: string
  /** The sender. */
  from: string
  log: Record<'info' | 'warn', (about: object, message: string) => void>
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  /** Connections at a time. */
  running: 2,
  /** Mails that may wait, those to be tried again among them. */
  waiting: 1000,
  retryMs: [5_000, 60_000] as Pauses,
  /** How long closing may take. */
  closeMs: 4_000,
}

/** A server that does not answer keeps others waiting, so it is given up before a person would. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

interface Letter {
  write: WriteMail
  mail?: Mail | undefined
  attempts: number
}

/**
 * Connects to a mail server and logs in, as for a mail, and sends none.
 *
 * @throws what keeps mails from being sent
 */
export async function tryMailServer(url: string): Promise<void> {
  const transport = createTransport({ url, ...TIMEOUTS })
  await transport.verify().finally(() => transport.close())
}

/** Sends mails in the background, a few at a time: no request waits for the mail server. */
export function createMailer({ url, from, log, limits }: MailerOptions): Mailer {
  const { running: places, waiting, retryMs, closeMs } = { ...LIMITS, ...limits }
  const transport = transportOf(url, from)
  const ready: Letter[] = []
  const later = new Map<Letter, NodeJS.Timeout>()
  const underWay = new Set<Promise<void>>()
  let closing = false
  let delivered = 0
  let failed = 0

  function sendNext(): void {
    while (underWay.size < places && ready.length > 0) {
      const sending = attempt(ready.shift() as Letter).finally(() => {
        underWay.delete(sending)
        sendNext()
      })
      underWay.add(sending)
    }
  }

  async function attempt(letter: Letter): Promise<void> {
    try {
      letter.mail ??= await letter.write()
      if (letter.mail === undefined) return
      const { about, ...mail } = letter.mail
      await transport.sendMail(mail)
      delivered++
      log.info(about, 'a mail was sent')
    } catch (error) {
      failed++
      const retryAfter = isFinal(error) || closing ? undefined : retryMs[letter.attempts]
      letter.attempts++
      log.warn(
        { ...letter.mail?.about, attempts: letter.attempts, reason: reasonOf(error) },
        retryAfter === undefined ? 'a mail could not be sent' : 'a mail could not be sent yet',
      )
      if (retryAfter !== undefined) tryAgain(letter, retryAfter)
    }
  }

  function tryAgain(letter: Letter, afterMs: number): void {
    const timer = setTimeout(() => {
      later.delete(letter)
      ready.push(letter)
      sendNext()
    }, afterMs).unref()
    later.set(letter, timer)
  }

  async function sent(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay)
  }

  return {
    send(write) {
      if (closing || ready.length + later.size >= waiting) return false
      ready.push({ write, attempts: 0 })
      sendNext()
      return true
    },

    async close() {
      closing = true
      for (const [letter, timer] of later) {
        clearTimeout(timer)
        ready.push(letter)
      }
      later.clear()
      sendNext()
      await Promise.race([sent(), sleep(closeMs, undefined, { ref: false })])
      const lost = ready.splice(0).length + underWay.size
      if (lost > 0) log.warn({ mails: lost }, 'mails were not sent: the service has stopped')
      transport.close()
    },

    state: () => ({ waiting: ready.length + later.size + underWay.size, sent: delivered, failed }),
  }
}

function transportOf(url: string, from: string) {
  return createTransport(
    // Whatever a mail is made of, it names no files and no pages to be read.
    { url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true },
    // Tells programs that answer mails not to answer this one (RFC 3834).
    { from, headers: { 'Auto-Submitted': 'auto-generated' } },
  )
}

/** What a server refuses for good (5yz) it refuses again. */
function isFinal(error: unknown): boolean {
  return answerOf(error) >= 500
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
