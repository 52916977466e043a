import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { SegmentedMessage } from 'sms-segments-calculator'
import type { Cleanup } from '#bench/cleanup.ts'
import { freePorts, stopProcess } from '#bench/processes.ts'

const TEMPLATE = new URL('kannel.conf', import.meta.url)

/** Debian's kannel-extras has it there. */
const FAKE_SMSC = '/usr/lib/kannel/test/fakesmsc'

/** Debian has Kannel in a folder that only root looks into. */
const PATH = `${process.env.PATH}:/usr/sbin`

const READY_TIMEOUT_MS = 60_000
const LOOK_EVERY_MS = 50

/** What fakesmsc is waked by, so that it reads replies: of itself it does so once a second. */
const WAKE_EVERY_MS = 10

/** Longer lines reach Kannel in pieces. */
const LONGEST_LINE_BYTES = 250

/** The number that people write to. */
export const SERVICE_NUMBER = '8028'

/** Secrets of a run. */
export function createSecrets(): Record<
  'SENDER_KEY' | 'SMS_SECRET' | 'USSD_SECRET' | 'TELEGRAM_SECRET',
  string
> {
  const secret = () => randomBytes(32).toString('hex')
  return { SENDER_KEY: secret(), SMS_SECRET: secret(), USSD_SECRET: secret(), TELEGRAM_SECRET: secret() }
}

/** Debian's packages that are not installed. */
export function findMissing(): string[] {
  const isThere = (program: string) => spawnSync(program, ['--help'], { env: { PATH } }).error === undefined
  return [
    ...(isThere('bearerbox') && isThere('smsbox') ? [] : ['kannel']),
    ...(existsSync(FAKE_SMSC) ? [] : ['kannel-extras']),
  ]
}

/** A text message as the network carries it. */
export interface Message {
  /** A number. */
  from: string
  to: string
  text: string
}

export interface Kannel {
  /** Sends a message to the service as a phone does; the text has one line. */
  send(message: Message): void
  /** Messages that Kannel has received from phones and sent to them. */
  counts(): Promise<{ received: number; sent: number; queued: number }>
  stop(): Promise<void>
}

/**
 * Starts Kannel in a folder, with a network of phones in front of it and the service behind.
 *
 * @param onReply gets each message that reaches a phone
 */
export async function startKannel(
  cleanup: Cleanup,
  { folder, service, secret }: { folder: string; service: string; secret: string },
  onReply: (reply: Message) => void,
): Promise<Kannel> {
  const [admin, smsbox, smsc] = await freePorts(3).then((first) => [first, first + 1, first + 2])
  const password = randomBytes(16).toString('hex')
  const values: Record<string, unknown> = {
    ADMIN_PORT: admin,
    ADMIN_PASSWORD: password,
    SMSBOX_PORT: smsbox,
    SMSC_PORT: smsc,
    SERVICE: service,
    SECRET: secret,
  }
  const file = join(folder, 'kannel.conf')
  const template = readFileSync(TEMPLATE, 'utf8')
  writeFileSync(
    file,
    template.replace(/@([A-Z_]+)@/g, (_, name) => String(values[name])),
    { mode: 0o600 },
  )

  const askStatus = () =>
    fetch(`http://127.0.0.1:${admin}/status.txt?password=${password}`).then((answer) => answer.text())
  const start = (program: string, parameters: string[], log: string) => {
    const output = openSync(join(folder, log), 'a')
    return startProcess(cleanup, program, parameters, ['ignore', output, output])
  }
  const bearerbox = start('bearerbox', ['-v', '1', file], 'bearerbox.log')
  await untilStatus(bearerbox, askStatus, /^Status: running/m)
  const box = start('smsbox', ['-v', '1', file], 'smsbox.log')
  await untilStatus(box, askStatus, /^ *smsbox:/m)
  const phones = startPhones(cleanup, smsc as number, onReply)
  await untilStatus(phones.process, askStatus, /^ *phones.*\(online/m)
  return {
    send: phones.send,
    async counts() {
      const [, ...counts] =
        /^SMS: received (\d+) \((\d+) queued\), sent (\d+) \((\d+) queued\)/m.exec(await askStatus()) ?? []
      const [received = 0, waiting = 0, sent = 0, leaving = 0] = counts.map(Number)
      return { received, sent, queued: waiting + leaving }
    },
    async stop() {
      for (const { stop } of [phones.process, box, bearerbox]) await stop()
    },
  }
}

interface Started {
  child: ChildProcess
  stop(): Promise<void>
}

function startProcess(
  cleanup: Cleanup,
  program: string,
  parameters: string[],
  stdio: ('ignore' | 'pipe' | number)[],
): Started {
  // A Ctrl-C of the terminal is for the one who has started it, and stops all in order.
  const child = spawn(program, parameters, { env: { ...process.env, PATH }, stdio, detached: true })
  return { child, stop: cleanup.add(() => stopProcess(child)) }
}

/** Waits until Kannel says of itself what matches. */
async function untilStatus({ child }: Started, ask: () => Promise<string>, wanted: RegExp): Promise<void> {
  const late = performance.now() + READY_TIMEOUT_MS
  while (!wanted.test(await ask().catch(() => ''))) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} has ended: its log says why`)
    if (performance.now() > late) throw new Error(`${child.spawnfile} did not start in time`)
    await setTimeout(LOOK_EVERY_MS)
  }
}

/** A line on which fakesmsc says what a phone gets: the service's number, that of the phone, the kind of text, and the text. */
const RECEIVED = /Got message \d+: <(\S+) (\S+) (\S+) (.*)>$/

/** Phones of all numbers: fakesmsc, which takes a message a line. Unbuffered, since it asks the system for the next one. */
function startPhones(cleanup: Cleanup, port: number, onReply: (reply: Message) => void) {
  const parameters = ['-i0', FAKE_SMSC, '-H', '127.0.0.1', '-r', String(port), '-i', '0']
  const started = startProcess(cleanup, 'stdbuf', parameters, ['pipe', 'ignore', 'pipe'])
  const { stdin, stderr } = started.child as { stdin: NodeJS.WritableStream; stderr: NodeJS.ReadableStream }
  // A message to a network that has ended is missed by its reply.
  stdin.on('error', () => {})
  const waking = setInterval(() => stdin.write('\n'), WAKE_EVERY_MS)
  started.child.once('exit', () => clearInterval(waking))
  createInterface(stderr).on('line', (line) => {
    if (!line.includes('Got message')) return
    const [, from, to, kind = '', text = ''] = RECEIVED.exec(line) ?? []
    if (from === undefined || to === undefined) throw new Error(`a reply has more than one line: ${line}`)
    onReply({ from, to, text: readText(kind, text) })
  })
  return {
    process: started,
    send({ from, to, text }: Message) {
      // Phones do so for each message with a sign beyond the alphabet of GSM.
      const inUcs2 = `${from} ${to} ucs2 ${encodeUcs2(text)}\n`
      const isUcs2 =
        new SegmentedMessage(text).encodingName !== 'GSM-7' && inUcs2.length <= LONGEST_LINE_BYTES
      const line = isUcs2 ? inUcs2 : `${from} ${to} text ${text}\n`
      if (Buffer.byteLength(line) > LONGEST_LINE_BYTES || /\n./.test(line)) {
        throw new Error(`fakesmsc takes no such line: ${line}`)
      }
      stdin.write(line)
    },
  }
}

/** Two bytes a character, as forms write them. */
function encodeUcs2(text: string): string {
  const bytes = Buffer.from(text, 'utf16le').swap16().toString('latin1')
  return bytes.replace(/[^A-Za-z0-9]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** Texts in UCS-2 are written as forms write them, two bytes a character. */
function readText(kind: string, text: string): string {
  if (kind === 'text') return text
  if (kind !== 'ucs-2') throw new Error(`a reply is no text but ${kind}`)
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').swap16().toString('utf16le')
}
