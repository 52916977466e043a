import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { SegmentedMessage } from 'sms-segments-calculator'
import type { Cleanup } from '#bench/cleanup.ts'
import { until } from '#bench/load/loops.ts'
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
const SERVICE_NUMBER = '8028'

/** Secrets of a run. */
export function createSecrets() {
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

export interface Kannel {
  /** Sends a text of one line to the service, as the phone of a number does. */
  send(from: string, text: string): void
  /** Messages that Kannel has received from phones and sent to them. */
  counts(): Promise<{ received: number; sent: number; queued: number }>
}

/**
 * Starts Kannel in a folder, with a network of phones in front of it and the service behind.
 *
 * @param onReply gets the number and the text of each message that reaches a phone
 */
export async function startKannel(
  cleanup: Cleanup,
  { folder, service, secret }: { folder: string; service: string; secret: string },
  onReply: (to: string, text: string) => void,
): Promise<Kannel> {
  const admin = await freePorts(3)
  const values: Record<string, unknown> = {
    ADMIN_PORT: admin,
    ADMIN_PASSWORD: randomBytes(16).toString('hex'),
    SMSBOX_PORT: admin + 1,
    SMSC_PORT: admin + 2,
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

  const status = `http://127.0.0.1:${admin}/status.txt?password=${values.ADMIN_PASSWORD}`
  const askStatus = () => fetch(status).then((answer) => answer.text())
  const start = (command: [string, ...string[]], stdio: StdioOptions): ChildProcess => {
    const [program, ...parameters] = command
    // A Ctrl-C of the terminal is for the one who has started it, and stops all in order.
    const child = spawn(program, parameters, { env: { ...process.env, PATH }, stdio, detached: true })
    cleanup.add(() => stopProcess(child))
    return child
  }
  for (const [program, started] of [
    ['bearerbox', /^Status: running/m],
    ['smsbox', /^ *smsbox:/m],
  ] as const) {
    const log = openSync(join(folder, `${program}.log`), 'a')
    await untilStatus(start([program, '-v', '1', file], ['ignore', log, log]), askStatus, started)
  }
  // Unbuffered, since it asks the system for the next message.
  const network = ['-H', '127.0.0.1', '-r', `${admin + 2}`, '-i', '0']
  const phones = start(['stdbuf', '-i0', FAKE_SMSC, ...network], ['pipe', 'ignore', 'pipe'])
  const send = connectPhones(phones, onReply)
  await untilStatus(phones, askStatus, /^ *phones.*\(online/m)
  return {
    send,
    async counts() {
      const [, ...counts] =
        /^SMS: received (\d+) \((\d+) queued\), sent (\d+) \((\d+) queued\)/m.exec(await askStatus()) ?? []
      const [received = 0, waiting = 0, sent = 0, leaving = 0] = counts.map(Number)
      return { received, sent, queued: waiting + leaving }
    },
  }
}

/** Waits until Kannel says of itself what matches. */
async function untilStatus(child: ChildProcess, ask: () => Promise<string>, wanted: RegExp): Promise<void> {
  const isWanted = async () => {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} has ended: its log says why`)
    return wanted.test(await ask().catch(() => ''))
  }
  if (await until(isWanted, READY_TIMEOUT_MS, LOOK_EVERY_MS)) return
  throw new Error(`${child.spawnfile} did not start in time`)
}

/** A line on which fakesmsc says what a phone gets: the service's number, that of the phone, the kind of text, and the text. */
const RECEIVED = /Got message \d+: <\S+ (\S+) (\S+) (.*)>$/

/** Phones of all numbers: fakesmsc, which takes a message a line. */
function connectPhones(phones: ChildProcess, onReply: (to: string, text: string) => void): Kannel['send'] {
  const { stdin, stderr } = phones as { stdin: NodeJS.WritableStream; stderr: NodeJS.ReadableStream }
  // A message to a network that has ended is missed by its reply.
  stdin.on('error', () => {})
  const waking = setInterval(() => stdin.write('\n'), WAKE_EVERY_MS)
  phones.once('exit', () => clearInterval(waking))
  createInterface(stderr).on('line', (line) => {
    if (!line.includes('Got message')) return
    const [, to, kind = '', text = ''] = RECEIVED.exec(line) ?? []
    if (to === undefined) throw new Error(`a reply has more than one line: ${line}`)
    onReply(to, readText(kind, text))
  })
  return (from, text) => {
    // Phones do so for each message with a sign beyond the alphabet of GSM.
    const inUcs2 = `${from} ${SERVICE_NUMBER} ucs2 ${encodeUcs2(text)}\n`
    const isUcs2 = new SegmentedMessage(text).encodingName !== 'GSM-7' && inUcs2.length <= LONGEST_LINE_BYTES
    const line = isUcs2 ? inUcs2 : `${from} ${SERVICE_NUMBER} text ${text}\n`
    if (Buffer.byteLength(line) > LONGEST_LINE_BYTES || /\n./.test(line)) {
      throw new Error(`fakesmsc takes no such line: ${line}`)
    }
    stdin.write(line)
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
