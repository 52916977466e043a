import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { RegionParts } from '#src/extensions/places/advise.ts'
import { normalizeCountry, type Places, UnknownPlace } from '#src/extensions/places/place.ts'
import { fill, type Texts } from '#src/extensions/texts/languages.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { Cache } from '#src/lib/cache.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { advise } from './advice.ts'
import { converse, type Services, type Style, shorten, toPlace } from './conversation.ts'
import { createVocabulary, isStop, type Parsed, parseMessage, type Vocabulary } from './grammar.ts'
import {
  type Arrival,
  abandonMessage,
  claimMessage,
  findAnswer,
  type Received,
  type Reply,
  startSender,
  stopSender,
  storeFeedback,
  storeReply,
} from './queries.ts'

/** A message that a channel has received. */
export interface Incoming {
  /** The senders of channels of one kind are the same people. */
  senders: 'phone' | 'telegram'
  sender: string
  /** Of the gateway, which asks again with it; undefined where it has none. */
  id: string | undefined
  text: string
  texts: Texts
  /** The country that places are looked for in; undefined for all. */
  country: string | undefined
}

export interface Channel {
  name: string
  /** Whether it answers each message, also after a STOP and beyond a limit: a caller waits for the end of a session. */
  alwaysAnswers: boolean
  style(texts: Texts): Style
  /** The text to send, which a repetition gets too. */
  write(reply: Pick<Reply, 'text' | 'isOpen'>): string
}

export type Receiver = ReturnType<typeof createReceiver>

/** A gateway waits for a few seconds; then it may ask again. */
const ANSWER_MS = 2600

/** A repetition looks so often whether the first one is answered. */
const LOOK_EVERY_MS = 100

/**
 * Messages of a channel in a process, a third of what a machine of two cores answers: gateways send the rest again. At a time
 * a process answers fewer, or a slow machine would be late for all. Senders beyond their limit have some kilobytes each,
 * and a look at the database a minute is enough for one.
 */
const MESSAGES = { rate: { max: 250, timeWindow: 5000 }, atOnce: 32, known: { max: 1000, ttlMs: 60_000 } }

/** STOPs count beyond the limit of a day, so they have limits of their own: others do not wait for a flood of them. */
const STOPS = { rate: { max: 50, timeWindow: 5000 }, atOnce: 8, known: { max: 1000, ttlMs: 5000 } }

/** A refusal comes so late: who does not wait for it could ask for the next one over and over. */
const HELD_MS = 1000

/** Nothing is to be sent. */
const SILENCE = ''

interface MessageParts extends RegionParts {
  app: App
  places: Places
}

/** A message with its request. */
interface MessageContext {
  incoming: Incoming
  received: Received
  snapshot: Snapshot
  vocabulary: Vocabulary
  channel: Channel
  exchange: Exchange
}

interface ParsedMessage extends MessageContext {
  parsed: Parsed
  /** Waits for a slice of the event loop: to read a message or to write its reply takes milliseconds. */
  pause: Pause
}

/** Answers messages, each once. Senders are known by a keyed hash: only the key lets one try all numbers. */
export function createReceiver(parts: MessageParts) {
  const { app, lookup } = parts
  const { SENDER_KEY = '' } = app.config
  const { writer } = app.database
  const vocabularyOf = createVocabularies(app)
  const others = createGate(app, MESSAGES)
  const stops = createGate(app, STOPS)
  const hash = (...names: string[]) => createHmac('sha256', SENDER_KEY).update(JSON.stringify(names)).digest()

  async function answer(incoming: Incoming, channel: Channel, exchange: Exchange) {
    const { request } = exchange
    const { senders, sender: number, id = randomUUID(), text, texts, country } = incoming
    const received = { sender: hash(senders, number), id: hash(channel.name, number, id, text) }
    request.sender = received.sender.toString('base64')
    const snapshot = lookup.known() ?? (await exchange.wait(lookup.current))
    normalizeCountry(snapshot, country)
    const vocabulary = vocabularyOf(snapshot, texts)
    const gate = isStop(text, vocabulary) ? stops : others
    const latest = gate.beyond.get(request.sender)
    if (latest && !latest.has(received.id.toString('base64'))) {
      // Another process may have had a START since: no STOP is lost.
      if (gate === stops) throw new BeyondLimit(STOPS.known.ttlMs / 1000)
      await sleep(HELD_MS, undefined, { ref: false })
      return refuse(app, incoming, channel)
    }
    const context = { incoming, received, snapshot, vocabulary, channel, exchange }
    return gate.pass(request, () => answerAdmitted(context, gate))
  }

  async function answerAdmitted(context: MessageContext, { beyond }: Gate): Promise<string> {
    const { incoming, received, channel, exchange } = context
    const pause = () => exchange.nextSlice(createClientSignal(exchange.reply))
    await pause()
    const message = { ...context, pause, parsed: parseMessage(incoming.text, context.vocabulary) }
    const arrival = await claim(app, message)
    const sender = received.sender.toString('base64')
    if (message.parsed.kind === 'start') stops.beyond.delete(sender)
    if (!arrival.claimed) {
      if (arrival.latest) beyond.set(sender, new Set(arrival.latest.map((id) => id.toString('base64'))))
      return arrival.reply ?? refuse(app, incoming, channel)
    }
    try {
      return await answerClaimed(parts, message, arrival)
    } catch (error) {
      app.noteOutcome(exchange.request, () => abandonMessage(writer, received)).catch(() => {})
      throw error
    }
  }

  /** The reply to a message within three seconds: that of the first time, where the gateway asks again. */
  return async (incoming: Incoming, channel: Channel, exchange: Exchange) => {
    const again = () => channel.write({ text: incoming.texts.replies.again, isOpen: false })
    const answering = answer(incoming, channel, exchange).catch(async (error) => {
      // The address of the gateway has a mistake.
      if (error instanceof ApiError && error.code === 'INVALID_PARAMETERS') throw error
      if (error instanceof BeyondLimit) {
        await sleep(HELD_MS, undefined, { ref: false })
        // The gateway tries again; a caller cannot.
        if (!channel.alwaysAnswers) throw error
      }
      if (!(error instanceof ApiError))
        app.logFailure(error, 'a text message was not answered', exchange.request.log)
      return again()
    })
    const timer = new AbortController()
    const late = sleep(ANSWER_MS, undefined, { signal: timer.signal, ref: false }).then(again)
    late.catch(() => {})
    return Promise.race([answering, late]).finally(() => timer.abort())
  }
}

/** A channel has more messages than it takes: the gateway sends this one again. */
class BeyondLimit extends ApiError {
  constructor(seconds: number) {
    super('OVERLOADED')
    this.withHeader('retry-after', String(seconds))
  }
}

type Gate = ReturnType<typeof createGate>

/** What a process takes of the messages of a kind: so many in a time by channel, and at once of all channels. */
function createGate(app: App, { rate, atOnce, known }: typeof MESSAGES) {
  const keyGenerator = ({ routeOptions }: FastifyRequest) => routeOptions.url ?? ''
  const count = app.createRateLimit({ ...rate, keyGenerator })
  let underWay = 0
  return {
    /** Senders of whom nothing more is answered, with their latest messages, which their gateways may ask for again. */
    beyond: new Cache<string, ReadonlySet<string>>('senders beyond their limit', known),
    /** @throws {BeyondLimit} */
    async pass(request: FastifyRequest, answer: () => Promise<string>): Promise<string> {
      if (underWay >= atOnce) throw new BeyondLimit(1)
      underWay++
      try {
        const counted = await count(request)
        if (!counted.isAllowed && counted.isExceeded) throw new BeyondLimit(counted.ttlInSeconds)
        return await answer()
      } finally {
        underWay--
      }
    },
  }
}

/** Beyond the limit of a day nothing is sent, but a session has an end. */
function refuse({ config }: App, { texts }: Incoming, channel: Channel): string {
  const count = config.MESSAGES_A_DAY
  return channel.alwaysAnswers
    ? channel.write({ text: fill(texts.replies.too_many, { count }), isOpen: false })
    : SILENCE
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
async function claim(app: App, { parsed, received, channel, exchange }: ParsedMessage): Promise<Arrival> {
  const { MESSAGES_A_DAY: mostADay } = app.config
  const wakes = channel.alwaysAnswers || parsed.kind === 'start'
  const rules = { mostADay, isStop: parsed.kind === 'stop', wakes }
  for (;;) {
    const arrival = await exchange.withDatabasePermit(() =>
      claimMessage(app.database.writer, received, rules),
    )
    if (arrival.claimed || arrival.reply !== null || arrival.today > mostADay) return arrival
    if (arrival.stopped && !wakes) return { ...arrival, reply: SILENCE }
    await sleep(LOOK_EVERY_MS, undefined, { ref: false })
  }
}

async function answerClaimed(parts: MessageParts, message: ParsedMessage, arrival: Arrival): Promise<string> {
  const { app } = parts
  const { incoming, parsed, channel } = message
  const { texts } = incoming
  const { MESSAGES_A_DAY: most } = app.config
  if (arrival.today >= most && parsed.kind !== 'stop') {
    const tooMany = fill(texts.replies.too_many, { count: most })
    return store(app, message, { text: tooMany, isOpen: false, offer: null })
  }
  const example = await makeExample(parts, message)
  const services = createServices(parts, message, channel.style(texts), example)
  return store(app, message, await converse(parsed, arrival.offer, arrival.lastCode, services))
}

/** Letters of the example in the help, which is one segment. */
const LONGEST_EXAMPLE = 22

/** A crop and a place in its country, as a message names them. */
async function makeExample(
  { places }: MessageParts,
  { snapshot: { countries }, incoming, exchange }: MessageContext,
): Promise<string> {
  const wanted = ({ code }: { code: string }) => (incoming.country ?? code) === code
  const country = countries.find((one) => one.crops.length > 0 && wanted(one))
  const area = country && (await places.findExample(country.code, exchange))
  return shorten(`${country?.crops[0] ?? ''} ${area ?? '9.5 38.5'}`.trim().toUpperCase(), LONGEST_EXAMPLE)
}

async function store(
  app: App,
  { received, channel, exchange }: MessageContext,
  answered: Reply,
): Promise<string> {
  const written = channel.write(answered)
  await exchange.wait(() =>
    app.noteOutcome(exchange.request, () => storeReply(app.database.writer, received, written, answered)),
  )
  return written
}

function createServices(
  parts: MessageParts,
  { incoming: { texts, country }, received, exchange, pause }: ParsedMessage,
  style: Style,
  example: string,
): Services {
  const { app } = parts
  const { writer } = app.database
  const withPermit = <Result>(work: () => Promise<Result>) => exchange.withDatabasePermit(work)
  return {
    texts,
    products: app.products.list,
    example,
    style,
    findPlace: async (text) => {
      try {
        const place = await parts.places.findPlace(text, { country_code: country }, exchange)
        if (place.kind === 'area') return { place: toPlace(place.area) }
        return place.kind === 'position'
          ? { place: { ...place, name: null, area: null } }
          : { candidates: [] }
      } catch (error) {
        if (error instanceof UnknownPlace) return { candidates: error.candidates }
        throw error
      }
    },
    advise: async (question) => {
      const advised = await advise(parts, question, exchange)
      await pause()
      return advised
    },
    findAnswer: (code) => withPermit(() => findAnswer(writer, received.sender, code)),
    storeFeedback: (id, feedback) => withPermit(() => storeFeedback(writer, id, feedback)),
    stop: () => withPermit(() => stopSender(writer, received)),
    start: () => withPermit(() => startSender(writer, received.sender)),
  }
}
