import { setTimeout } from 'node:timers/promises'
import { SegmentedMessage } from 'sms-segments-calculator'
import { type Drawn, drawMessages, type Words } from './drawn-messages.ts'
import { type Kannel, type Message, SERVICE_NUMBER } from './kannel.ts'

/** A message and what has come back. */
export interface Exchange extends Drawn {
  from: string
  sentAt: number
  /** Undefined until it has come. */
  reply?: string
  ms?: number
}

const COUNTRY_PREFIX = '+2519'

/** What comes back no more within this time is lost: Kannel asks again every second. */
const QUIET_MS = 30_000
const LOOK_EVERY_MS = 100

/** People who send messages and get replies: each reply is that to the oldest message of its number that has none. */
export function createPeople() {
  const waiting = new Map<string, Exchange[]>()
  let lastAt = 0
  let surplus = 0
  return {
    /** Replies to nothing. */
    surplus: () => surplus,
    onReply({ to, text }: Message): void {
      lastAt = performance.now()
      const exchange = waiting.get(to)?.shift()
      if (!exchange) surplus++
      else Object.assign(exchange, { reply: text, ms: lastAt - exchange.sentAt })
    },
    send(kannel: Kannel, exchange: Exchange): void {
      const { from, text } = exchange
      waiting.set(from, [...(waiting.get(from) ?? []), exchange])
      exchange.sentAt = lastAt = performance.now()
      kannel.send({ from, to: SERVICE_NUMBER, text })
    },
    /** Waits until all are answered, or nothing has come back for long. */
    async untilQuiet(): Promise<void> {
      const isWaiting = () => [...waiting.values()].some((exchanges) => exchanges.length > 0)
      while (isWaiting() && performance.now() < lastAt + QUIET_MS) await setTimeout(LOOK_EVERY_MS)
    },
  }
}

/** Messages of a seed, one after the other of so many senders; a run has senders of its own. */
export function drawExchanges(words: Words, count: number, senders: number, seed: number): Exchange[] {
  const numberOf = (sender: number) =>
    `${COUNTRY_PREFIX}${String(seed).padStart(3, '0')}${String(sender).padStart(5, '0')}`
  return drawMessages(words, count, seed).map((drawn, index) => ({
    ...drawn,
    from: numberOf(index % senders),
    sentAt: 0,
  }))
}

/** How many messages a phone shows a text as. */
export function countSegmentsOf(text: string): number {
  return new SegmentedMessage(text, 'auto').segmentsCount
}

/** The latency that a part of the exchanges did not exceed, in milliseconds; NaN of none. */
export function quantile(exchanges: readonly Exchange[], part: number): number {
  const sorted = exchanges.flatMap(({ ms }) => ms ?? []).sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}

/** As the catalogue has it. */
export interface Product {
  product: string
  /** The name of a value in its entries. */
  value: { key: string }
}

/** Words of the catalogue and names of areas, as the service publishes them. */
export async function readWords(service: string): Promise<Words & { products: Product[] }> {
  const read = async (path: string) => {
    const answer = await fetch(service + path)
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
    return answer.json()
  }
  const { crops, products, countries } = (await read('/catalog')) as {
    crops: { code: string }[]
    products: Product[]
    countries: { code: string }[]
  }
  const places = new Set<string>()
  for (const { code } of countries) {
    for (const level of [1, 2, 3]) {
      const areas = await read(`/ogc/collections/areas-${code}-${level}/items?limit=1000&f=json`)
      const { features } = areas as { features: { properties: { name: string } }[] }
      for (const { properties } of features) places.add(properties.name)
    }
  }
  const codes = products.map(({ product }) => product)
  return {
    products,
    subjects: [...crops.map(({ code }) => code), ...codes, 'Urea'],
    places: [...places],
  }
}
