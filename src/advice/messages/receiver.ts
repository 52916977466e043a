import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { nameKey } from '#src/lib/names.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Places } from '../location/place.ts'
import { fill, type Texts } from '../texts/languages.ts'
import { type AdviceParts, advise } from './advice.ts'
import { converse, type Reply, type Services, type Style, shorten } from './conversation.ts'
import { createVocabulary, parseMessage, type Vocabulary } from './grammar.ts'
import {
  type Arrival,
  abandonMessage,
  claimMessage,
  deleteOldMessages,
  findAnswer,
  type Received,
  startSender,
  stopSender,
  storeFeedback,
  storeReply,
} from './queries.ts'

/** A message that a door has received. */
export interface Incoming {
  /** Senders of a door and of another one with the same kind are the same people. */
  senders: 'phone' | 'telegram'
  sender: string
  /** Of the gateway, which asks again with it; undefined where it has none. */
  id: string | undefined
  text: string
  texts: Texts
  /** The country that places are looked for in; undefined for all. */
  country: string | undefined
}

export interface Door {
  name: string
  style(texts: Texts): Style
  /** The text to send, which a repetition gets too. */
  write(reply: Pick<Reply, 'text' | 'isOpen'>): string
}

export type Receiver = ReturnType<typeof createReceiver>

/** A gateway waits for a few seconds; then it may ask again. */
const ANSWER_MS = 2600

/** A repetition looks so often whether the first one is answered. */
const LOOK_EVERY_MS = 100

/** Rows of a deletion. */
const PIECE = 500

/** Nothing is to be sent. */
const SILENCE = ''

interface MessageParts extends AdviceParts {
  places: Places
}

/** A message with its request. */
interface Exchange {
  incoming: Incoming
  received: Received
  door: Door
  request: FastifyRequest
  reply: FastifyReply
}

/** Answers messages, each once. Senders are known by a keyed hash: only the key lets one try all numbers. */
export function createReceiver(parts: MessageParts) {
  const { app } = parts
  const { SENDER_KEY = '' } = app.config
  const { writer } = app.database
  const vocabularyOf = createVocabularies(app)
  app.jobs.add('delete-old-messages', async () => (await deleteOldMessages(writer, PIECE)) > 0)
  const hash = (...names: string[]) => createHmac('sha256', SENDER_KEY).update(JSON.stringify(names)).digest()

  async function answer(incoming: Incoming, door: Door, request: FastifyRequest, reply: FastifyReply) {
    const { senders, sender: number, id = randomUUID() } = incoming
    const received = { sender: hash(senders, number), id: hash(door.name, number, id) }
    request.sender = received.sender.toString('base64')
    const exchange = { incoming, received, door, request, reply }
    const arrival = await claim(app, exchange)
    if (!arrival.claimed) return arrival.reply ?? SILENCE
    try {
      return await answerClaimed(parts, exchange, arrival, vocabularyOf)
    } catch (error) {
      app.noteInTurn(request, () => abandonMessage(writer, received)).catch(() => {})
      throw error
    }
  }

  /** The reply to a message within three seconds: that of the first time, where the gateway asks again. */
  return async (incoming: Incoming, door: Door, request: FastifyRequest, reply: FastifyReply) => {
    const again = () => door.write({ text: incoming.texts.doors.again, isOpen: false })
    const answering = answer(incoming, door, request, reply).catch((error) => {
      if (!(error instanceof ApiError)) app.logFailure(error, 'a message could not be answered', request.log)
      return again()
    })
    const timer = new AbortController()
    const late = sleep(ANSWER_MS, undefined, { signal: timer.signal, ref: false }).then(again)
    late.catch(() => {})
    return Promise.race([answering, late]).finally(() => timer.abort())
  }
}

/** The words of a snapshot in a language, made once. */
function createVocabularies({ products }: App) {
  const known = new WeakMap<Snapshot, Map<string, Vocabulary>>()
  return (snapshot: Snapshot, { language, words }: Texts): Vocabulary => {
    const languages = known.get(snapshot) ?? new Map<string, Vocabulary>()
    const vocabulary = languages.get(language) ?? createVocabulary(snapshot, products.list, words)
    known.set(snapshot, languages.set(language, vocabulary))
    return vocabulary
  }
}

/** Claims a message, once no other request is answering it. */
async function claim(app: App, { incoming, received, request, reply }: Exchange): Promise<Arrival> {
  const { MESSAGES_A_DAY: mostADay } = app.config
  const rules = { mostADay, isStop: isStop(incoming) }
  for (;;) {
    const arrival = await app.inTurn(request, reply, () => claimMessage(app.database.writer, received, rules))
    if (arrival.claimed || arrival.reply !== null || arrival.today > mostADay) return arrival
    await sleep(LOOK_EVERY_MS, undefined, { ref: false })
  }
}

function isStop({ text, texts }: Incoming): boolean {
  return texts.words.stop.some((word) => nameKey(word) === nameKey(text))
}

async function answerClaimed(
  parts: MessageParts,
  exchange: Exchange,
  arrival: Arrival,
  vocabularyOf: ReturnType<typeof createVocabularies>,
): Promise<string> {
  const { app, lookup } = parts
  const { incoming, received, door, request, reply } = exchange
  const { texts, text } = incoming
  const { MESSAGES_A_DAY: most } = app.config
  if (arrival.today >= most && !isStop(incoming)) {
    const tooMany = fill(texts.doors.too_many, { count: most })
    return store(app, exchange, { text: tooMany, isOpen: false, offer: null, kept: null })
  }
  const snapshot = lookup.known() ?? (await withTimeout(request, reply, lookup.current))
  const vocabulary = vocabularyOf(snapshot, texts)
  const parsed = parseMessage(text, vocabulary)
  if (arrival.stopped && parsed.kind !== 'start') {
    await app.noteInTurn(request, () => abandonMessage(app.database.writer, received))
    return SILENCE
  }
  const example = await makeExample(parts, snapshot, exchange)
  const services = createServices(parts, exchange, door.style(texts), example)
  return store(app, exchange, await converse(parsed, arrival.offer, arrival.lastCode, services))
}

/** Letters of a place in the help, which is one segment. */
const LONGEST_EXAMPLE = 20

/** A crop and a place in its country, as a message names them. */
async function makeExample(
  { places }: MessageParts,
  { countries }: Snapshot,
  call: Pick<Exchange, 'request' | 'reply'>,
): Promise<string> {
  const country = countries.find(({ crops }) => crops.length > 0)
  const area = country && (await places.findExample(country.code, call))
  return `${country?.crops[0] ?? ''} ${shorten(area ?? '9.5 38.5', LONGEST_EXAMPLE)}`.trim().toUpperCase()
}

async function store(
  app: App,
  { received, door, request, reply }: Exchange,
  answered: Reply,
): Promise<string> {
  const written = door.write(answered)
  await withTimeout(request, reply, () =>
    app.noteInTurn(request, () => storeReply(app.database.writer, received, written, answered)),
  )
  return written
}

function createServices(
  parts: MessageParts,
  { incoming: { texts, country }, received, request, reply }: Exchange,
  style: Style,
  example: string,
): Services {
  const { app } = parts
  const { writer } = app.database
  const inTurn = <Result>(work: () => Promise<Result>) => app.inTurn(request, reply, work)
  return {
    texts,
    products: app.products.list,
    example,
    style,
    findPlace: (text) => parts.places.findPlace(text, { country_code: country }, { request, reply }),
    advise: (question) => advise(parts, question, request, reply),
    findAnswer: (code) => inTurn(() => findAnswer(writer, received.sender, code)),
    tell: (id, feedback) => inTurn(() => storeFeedback(writer, id, feedback)),
    stop: () => inTurn(() => stopSender(writer, received)),
    start: () => inTurn(() => startSender(writer, received.sender)),
  }
}
