/**
 * Sends text messages with misspellings through Kannel to the service and back, once while it runs and once while it is
 * killed and started again, and holds what comes back to what is promised.
 */
import { setTimeout } from 'node:timers/promises'
import { Command } from 'commander'
import { type Cleanup, temporaryFolder, withCleanup } from '#bench/cleanup.ts'
import { execute, openDatabaseServer } from '#bench/postgres.ts'
import { freePort, type Server } from '#bench/processes.ts'
import { startService, untilReady, type Where } from '#bench/service.ts'
import { formatTable } from '#src/cli/table.ts'
import { rateText } from '#src/lib/round.ts'
import { createSecrets, findMissing, type Kannel, startKannel } from './kannel.ts'
import {
  countSegmentsOf,
  createPeople,
  drawExchanges,
  type Exchange,
  type Product,
  quantile,
  readWords,
} from './trial.ts'

interface Options {
  messages: number
  senders: number
  rate: number
  seed: number
  embedded?: boolean
  show?: boolean
}

const { messages, senders, rate, seed, embedded, show } = new Command('ops/messages/try.ts')
  .description('Send text messages with misspellings through Kannel to the service and back.')
  .option('--messages <number>', 'how many, each time', Number, 1000)
  .option('--senders <number>', 'of how many people', Number, 250)
  .option('--rate <number>', 'how many a second', Number, 20)
  .option('--seed <number>', 'what the messages are drawn by', Number, 1)
  .option('--embedded', 'on the embedded database, even where there is PostgreSQL')
  .option('--show', 'print each message with its reply')
  .parse()
  .opts<Options>()

/** Of 100 messages, 99 come back sooner. */
const LONGEST_MS = 1000

/** Somebody gets a second reply within this time: Kannel asks again every second. */
const SECOND_REPLY_MS = 5000

/** What messages say of a place, and what addresses do. */
const COMPARED = [
  ['8.1 38.9', '/point?lat=8.1&lng=38.9'],
  ['9,5 38,5', '/point?lat=9.5&lng=38.5'],
  ['7.777N 39.123E', '/point?lat=7.777&lng=39.123'],
  ['oromiya', '?place=Oromia'],
  ['FICHE', '?place=Fiche'],
] as const

/** What a late answer says, in the place of advice. Such a message is not counted. */
const BUSY = /^The service is busy\./

/** An answer says by which code it is judged. */
const ANSWER = /\bCode [A-Z]\d\./

process.exitCode = (await withCleanup(run)) ? 0 : 1

interface Trial {
  url: string
  kannel: Kannel
  people: ReturnType<typeof createPeople>
  /** Kills the service and starts it again; gives the seconds until it answers. */
  restart(): Promise<number>
  /** Messages that the service has counted; undefined where its database admits one process. */
  counted(): Promise<number | undefined>
}

async function run(cleanup: Cleanup): Promise<boolean> {
  const missing = findMissing()
  if (missing.length > 0) throw new Error(`Kannel is not there: apt-get install ${missing.join(' ')}`)
  const trial = await prepare(cleanup)
  const words = await readWords(trial.url)
  const faults: string[] = []
  const rows: string[][] = []
  let told = 0
  for (const [name, interrupt] of [
    ['running', undefined],
    ['restarted', trial.restart],
  ] as const) {
    const exchanges = drawExchanges(words, messages, senders, seed + rows.length)
    const away = await exchange(trial, exchanges, interrupt)
    told += exchanges.length
    const judged = await judge(trial, exchanges, told, interrupt === undefined)
    rows.push([away === undefined ? name : `${name}, away for ${away.toFixed(1)} s`, ...judged.cells])
    if (show)
      for (const { kind, text, reply, ms } of exchanges)
        console.log(`${kind} | ${text} | ${reply} | ${ms?.toFixed(0)}`)
    faults.push(...judged.faults.map((fault) => `${name}: ${fault}`))
    if (interrupt === undefined)
      console.log(`${formatTable(['messages', 'sent', 'answers', 'other replies'], byKind(exchanges))}\n`)
  }
  const compared = await compareWithHttp(trial, words.products)
  faults.push(...compared.faults)
  const head = [
    'the service',
    'sent',
    'replies',
    'surplus',
    'busy',
    'segments',
    'median ms',
    'p99 ms',
    'longest ms',
    'counted',
  ]
  console.log(formatTable(head, rows))
  console.log(`\nThe same values by HTTP: ${compared.values} values of ${compared.answers} answers`)
  for (const fault of faults) console.log(`NOT KEPT: ${fault}`)
  return faults.length === 0
}

async function prepare(cleanup: Cleanup): Promise<Trial> {
  const server = embedded ? undefined : await openDatabaseServer(cleanup)
  const where: Where = server
    ? { DATABASE_URL: await server.createDatabase('messages') }
    : { DATA_DIR: temporaryFolder(cleanup, 'messages-data') }
  const secrets = createSecrets()
  const port = await freePort()
  const settings = { ...secrets, DEMO_DATA: 'true', LOG_LEVEL: 'error', PORT: String(port) }
  const start = async () => {
    const started = await startService(cleanup, where, settings)
    await untilReady(started)
    return started
  }
  let service: Server = await start()
  const url = `http://127.0.0.1:${port}`
  const people = createPeople()
  const folder = temporaryFolder(cleanup, 'messages')
  const kannel = await startKannel(
    cleanup,
    { folder, service: url, secret: secrets.SMS_SECRET },
    people.onReply,
  )
  const database = server ? `PostgreSQL ${server.versions.postgresql}` : 'the embedded database'
  console.log(`${messages} messages of ${senders} people, ${rate} a second, on ${database}\n`)
  return {
    url,
    kannel,
    people,
    async restart() {
      const began = performance.now()
      process.kill(service.pid, 'SIGKILL')
      await service.ended
      service = await start()
      return (performance.now() - began) / 1000
    },
    async counted() {
      if (!('DATABASE_URL' in where)) return undefined
      const [row] = await execute(
        where.DATABASE_URL,
        'select count(*)::integer as count from message where reply is not null',
      )
      return (row as { count: number }).count
    },
  }
}

/** Sends messages at the rate, has something happen in the middle, and waits for the replies; gives the seconds of that. */
async function exchange(
  { kannel, people }: Trial,
  exchanges: Exchange[],
  interrupt?: () => Promise<number>,
): Promise<number | undefined> {
  const began = performance.now()
  let interrupted: Promise<number> | undefined
  for (const [index, one] of exchanges.entries()) {
    const due = began + (index * 1000) / rate
    await setTimeout(Math.max(0, due - performance.now()))
    people.send(kannel, one)
    if (index === Math.floor(exchanges.length / 2)) interrupted = interrupt?.()
  }
  const away = await interrupted
  await people.untilQuiet()
  await setTimeout(SECOND_REPLY_MS)
  return away
}

async function judge(
  { kannel, people, counted }: Trial,
  exchanges: Exchange[],
  told: number,
  isSteady: boolean,
): Promise<{ cells: string[]; faults: string[] }> {
  const replies = exchanges.flatMap(({ reply }) => reply ?? [])
  const busy = replies.filter((reply) => BUSY.test(reply)).length
  const long = replies.filter((reply) => countSegmentsOf(reply) > 1)
  const [median, late, longest] = [0.5, 0.99, 1].map((part) => quantile(exchanges, part)) as [
    number,
    number,
    number,
  ]
  const { received, sent, queued } = await kannel.counts()
  const stored = await counted()
  const claims: [boolean, string][] = [
    [
      replies.length === exchanges.length,
      `${exchanges.length - replies.length} messages were not answered: ${unanswered(exchanges)}`,
    ],
    [people.surplus() === 0, `${people.surplus()} replies came twice`],
    [long.length === 0, `${long.length} replies have more than a segment, such as ${long[0]}`],
    [replies.every(Boolean), 'a reply is empty'],
    [!isSteady || busy === 0, `${busy} replies say that the service is busy`],
    [!isSteady || late < LONGEST_MS, `p99 is ${late.toFixed(0)} ms`],
    [
      received === told && sent === told && queued === 0,
      `Kannel received ${received}, sent ${sent}, and keeps ${queued} of ${told}`,
    ],
    [
      stored === undefined || (stored <= told && stored >= told - busy),
      `the service counted ${stored} of ${told}`,
    ],
  ]
  const cells = [exchanges.length, replies.length, people.surplus(), busy, long.length === 0 ? 'one' : 'more']
  const times = [median, late, longest].map((ms) => ms.toFixed(0))
  return {
    cells: [...cells.map(String), ...times, stored === undefined ? '-' : String(stored)],
    faults: claims.flatMap(([isKept, fault]) => (isKept ? [] : fault)),
  }
}

/** Asks by messages, and for the rest of each answer, and by HTTP: all values of HTTP are in the messages. */
async function compareWithHttp({ url, kannel, people }: Trial, products: Product[]) {
  const faults: string[] = []
  let [values, answers] = [0, 0]
  for (const { product, value } of products) {
    for (const [place, path] of COMPARED) {
      const expected = await readSayings(`${url}/advisory/${product}${path}`, value.key)
      const from = `+25191100${String(answers++).padStart(4, '0')}`
      const pages: string[] = []
      for (let text: string | undefined = `${product} ${place}`; text !== undefined; ) {
        const sent: Exchange = { kind: 'coordinates', text, from, sentAt: 0 }
        people.send(kannel, sent)
        await people.untilQuiet()
        pages.push(sent.reply ?? '')
        text = sent.reply?.endsWith('Send MORE.') ? 'MORE' : undefined
      }
      const said = ` ${pages.join(' ')} `
      const lacking = expected.filter(
        (one) => ![' ', ';', '.', ','].some((end) => said.includes(` ${one}${end}`)),
      )
      if (lacking.length > 0) faults.push(`${product} ${place}: no ${lacking[0]} in ${pages.join(' | ')}`)
      values += expected.length
    }
  }
  return { values, answers, faults }
}

/** The values of an answer as messages say them, such as `Urea Normal foot slope 93`; or its question, where it has one. */
async function readSayings(address: string, value: string): Promise<string[]> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address} was answered ${answer.status}`)
  const body = (await answer.json()) as Record<string, unknown>
  if (typeof body.question === 'string') return [body.question]
  const [entries = []] = Object.values(body).filter(Array.isArray) as Record<string, unknown>[][]
  return entries.map(({ scenario_of: _, [value]: number, ...others }) => {
    const names = Object.values(others).filter((other) => typeof other === 'string')
    return [...names, rateText(number as number)].join(' ')
  })
}

function unanswered(exchanges: Exchange[]): string {
  const texts = exchanges.filter(({ reply }) => reply === undefined).map(({ text }) => JSON.stringify(text))
  return texts.slice(0, 5).join(', ')
}

function byKind(exchanges: Exchange[]): string[][] {
  const kinds = [...new Set(exchanges.map(({ kind }) => kind))]
  return kinds.map((kind) => {
    const some = exchanges.filter((one) => one.kind === kind)
    const answers = some.filter(({ reply }) => reply !== undefined && ANSWER.test(reply)).length
    return [kind, String(some.length), String(answers), String(some.length - answers)]
  })
}
