import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { createPlaces } from '#src/extensions/places/place.ts'
import { LANGUAGES, type Texts, textsIn } from '#src/extensions/texts/languages.ts'
import { isInGsm7 } from '#src/extensions/texts/segments.ts'
import type { App } from '#src/http/app.ts'
import { decodeBody } from '#src/http/plugins/body-parser.ts'
import { isObject } from '#src/lib/json.ts'
import { splitList } from '#src/lib/names.ts'
import { decodeText } from '#src/lib/text.ts'
import type { Core } from '../extension.ts'
import type { Style } from './conversation.ts'
import { type Channel, createReceiver, type Incoming, type Receiver } from './receiver.ts'

/** A text of ten segments in the four bytes of an emoji each, as a form writes it. */
const BODY_LIMIT_BYTES = 16_384

/** Of a message; more is no question. */
const LONGEST_TEXT = 1000

/** The fields of a gateway, in a form, in JSON or in the query; the body wins. */
type Fields = Readonly<Record<string, unknown>>

const COMMON = {
  config: {
    public: true,
    scope: 'advisory',
    caching: 'never',
    takesOwnPermit: true,
    // Gateways send for many people; a sender has a limit of its own.
    ownLimit: true,
  },
  schema: { hide: true },
  bodyLimit: BODY_LIMIT_BYTES,
} as const

/** Channels of text messages. Each is off until its secret is set; the document leaves them out, as a gateway is set up by hand. */
export async function messages(app: App, core: Core): Promise<void> {
  const { SMS_SECRET, USSD_SECRET, TELEGRAM_SECRET } = app.config
  if (!SMS_SECRET && !USSD_SECRET && !TELEGRAM_SECRET) return
  app.addContentTypeParser<Buffer>(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (request, body, done) => done(null, readForm(decodeBody(body, request), request.log)),
  )
  const receive = createReceiver({ app, ...core, places: createPlaces(app, core.lookup) })
  if (SMS_SECRET) addSms(app, receive, SMS_SECRET)
  if (USSD_SECRET) addUssd(app, receive, USSD_SECRET)
  if (TELEGRAM_SECRET) addTelegram(app, receive, TELEGRAM_SECRET)
}

/** The fields of a form or a query; a repeated one counts once, the first time. */
function readForm(form: string, log: FastifyRequest['log']): Fields {
  const pairs = form.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [readEncoded(name, log), value.join('=')] as const
  })
  const charset = pairs.find(([name]) => name === 'charset')?.[1]
  return Object.fromEntries(pairs.reverse().map(([name, value]) => [name, readEncoded(value, log, charset)]))
}

/** No message has these: bytes of UTF-16 that are taken for another encoding are full of them. */
const CONTROL = /(?![\t\n\r])\p{Cc}|\ufffd/u

/** First bytes of characters in UTF-16BE: those of letters and of emoji, and those of signs beside them. */
const LETTERS = (byte: number) => byte < 0x14 || (byte >= 0xd8 && byte < 0xdc) || byte === 0xff
const SIGNS = (byte: number) => [0x1e, 0x1f, 0x2d, 0xfe].includes(byte) || (byte >= 0x20 && byte < 0x28)

function isUtf16(bytes: Buffer): boolean {
  const first = bytes.filter((_, at) => at % 2 === 0)
  return (
    bytes.length % 2 === 0 &&
    first.some(LETTERS) &&
    first.every((byte) => LETTERS(byte) || SIGNS(byte) || (byte >= 0xdc && byte < 0xe0))
  )
}

/**
 * Decodes a value of a form. It is UTF-8, or as declared. Kannel without `mo-recode` sends UTF-16BE where a message has a
 * sign beyond the alphabet of GSM: it writes a blank for each byte that looks like one, and none at the ends.
 */
function readEncoded(value: string, log: FastifyRequest['log'], charset?: string): string {
  const bytes = Buffer.from(
    value.replace(/\+|%([0-9a-f]{2})|[\s\S]/giu, (sign, hex) => {
      if (sign === '+') return ' '
      return hex ? String.fromCharCode(Number.parseInt(hex, 16)) : Buffer.from(sign).toString('latin1')
    }),
    'latin1',
  )
  const [begin, end] = [Buffer.concat([BLANK, bytes]), Buffer.concat([bytes, BLANK])]
  const utf16 = [bytes, begin, end, Buffer.concat([begin, BLANK])].filter(isUtf16)
  const attempts: { some: Buffer; declared?: string | undefined }[] = [
    { some: bytes, declared: charset },
    { some: bytes },
    ...utf16.map((some) => ({ some, declared: UTF_16 })),
  ]
  for (const { some, declared } of attempts) {
    try {
      const { text } = decodeText(some, { source: 'It', declared })
      if (CONTROL.test(text)) continue
      if (declared === UTF_16) log.warn('the gateway sends texts in UTF-16: Kannel needs mo-recode = true')
      return text
    } catch {
      // Another encoding, then.
    }
  }
  log.warn('the gateway sends texts that are not UTF-8: it should, or name their charset')
  // A STOP is obeyed, whatever stands around it.
  return bytes
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/[^ -~]+/g, ' ')
}

const BLANK = Buffer.from(' ')
const UTF_16 = 'utf-16be'

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** @throws {ApiError} UNAUTHORIZED */
function requireSecret(sent: unknown, secret: string): void {
  if (typeof sent === 'string' && timingSafeEqual(digest(sent), digest(secret))) return
  throw new ApiError('UNAUTHORIZED', 'The secret of the gateway is missing or wrong.')
}

/** @throws {ApiError} UNAUTHORIZED for another secret */
function readFields({ url, body, log }: FastifyRequest, secret: string): Fields {
  const fields = { ...readForm(url.split('?')[1] ?? '', log), ...(isObject(body) ? body : {}) }
  requireSecret(fields.secret, secret)
  return fields
}

/** A text of a field; a repeated one counts once. @throws {ApiError} INVALID_PARAMETERS */
function readText(fields: Fields, name: string, most: number): string {
  const value = [fields[name]].flat()[0]
  if (typeof value !== 'string' && typeof value !== 'number') throw ApiError.invalid(name, 'is required')
  return String(value).replaceAll('\0', '').toWellFormed().slice(0, most)
}

/** Numbers with and without `+`, zeros or spaces at their beginning are the same; other senders stay as they are. */
function readNumber(fields: Fields, name: string): string {
  const sent = readText(fields, name, 100).trim()
  if (sent === '') throw ApiError.invalid(name, 'must not be empty')
  const digits = /^[+\d\s().-]+$/.test(sent) ? sent.replace(/\D/g, '').replace(/^0+/, '') : ''
  return digits || sent.toLowerCase()
}

/** The language and the country of a gateway, by its parameters. @throws {ApiError} INVALID_PARAMETERS */
function readCommon({ lang, country_code: country }: Fields): Pick<Incoming, 'texts' | 'country'> {
  const languages = [...LANGUAGES.served.keys()]
  if (lang !== undefined && !languages.includes(String(lang))) {
    throw ApiError.invalid('lang', `must be one of ${languages.join(', ')}`, languages)
  }
  return {
    texts: textsIn(lang as string | undefined),
    country: typeof country === 'string' && country !== '' ? country.trim().toLowerCase() : undefined,
  }
}

const smsStyle = ({ replies }: Texts): Style => ({
  before: '',
  more: ` ${replies.more}`,
  orWrite: replies.or_write,
  isLong: false,
})

const SMS: Channel = { name: 'sms', alwaysAnswers: false, style: smsStyle, write: ({ text }) => text }

/** Each gateway has its own names of fields: SMS_PARAMETERS has those of the sender, the text and the id. */
function addSms(app: App, receive: Receiver, secret: string): void {
  const [from, text, id] = splitList(app.config.SMS_PARAMETERS) as [string, string, string]
  app.route({
    method: ['GET', 'POST'],
    url: '/messages/sms',
    exposeHeadRoute: false,
    ...COMMON,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const fields = readFields(request, secret)
      const sent = [fields[id]].flat()[0]
      const incoming: Incoming = {
        ...readCommon(fields),
        senders: 'phone',
        sender: readNumber(fields, from),
        id: sent === undefined || sent === '' ? undefined : String(sent),
        text: readText(fields, text, LONGEST_TEXT),
      }
      const answer = await receive(incoming, SMS, request.exchange)
      // Kannel sends a text in the alphabet of GSM otherwise, with question marks.
      if (!isInGsm7(answer)) reply.header('x-kannel-coding', '2')
      return reply.type('text/plain; charset=utf-8').send(answer)
    },
  })
}

const CONTINUE = 'CON '

const USSD: Channel = {
  name: 'ussd',
  alwaysAnswers: true,
  style: ({ replies }) => ({
    before: CONTINUE,
    more: `\n${replies.more_key}`,
    orWrite: replies.or_write,
    isLong: false,
  }),
  write: ({ text, isOpen }) => (isOpen ? CONTINUE : 'END ') + text,
}

/** The number of a menu that asks for the next page. */
const MORE_KEY = '0'

/**
 * Sessions in the form of Africa's Talking: `text` has all inputs of the session, with `*` between them. The menu asks for
 * a product, then for a place; whatever is written there or later is read as a message.
 */
function addUssd(app: App, receive: Receiver, secret: string): void {
  app.route({
    method: 'POST',
    url: '/messages/ussd',
    ...COMMON,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const fields = readFields(request, secret)
      const common = readCommon(fields)
      const session = readText(fields, 'sessionId', 200)
      const sender = readNumber(fields, 'phoneNumber')
      const sent = fields.text === undefined ? '' : readText(fields, 'text', LONGEST_TEXT)
      const { menu, text = '' } = readInputs(sent, app.products.list, common.texts)
      reply.type('text/plain; charset=utf-8')
      if (menu !== undefined) return reply.send(USSD.write({ text: menu, isOpen: true }))
      const id = JSON.stringify([session, sent])
      const incoming: Incoming = { ...common, senders: 'phone', sender, id, text }
      return reply.send(await receive(incoming, USSD, request.exchange))
    },
  })
}

/** The part of the menu that comes next; after it, the text of the message. */
function readInputs(
  sent: string,
  products: readonly ProductDefinition[],
  { replies, words, products: names }: Texts,
): { menu?: string; text?: string } {
  const inputs = sent === '' ? [] : sent.split('*')
  // A number that the menu does not have shows the menu again.
  while (/^\s*\d+\s*$/.test(inputs[0] ?? '') && !products[Number(inputs[0]) - 1]) inputs.shift()
  const chosen = products[Number(inputs[0]) - 1]
  const last = inputs.at(-1)?.trim()
  if (last === undefined) {
    const list = products.map(({ code, names: own }, at) => `${at + 1} ${names[code] ?? own.subject}`)
    return { menu: [replies.menu, ...list].join('\n') }
  }
  if (inputs.length === 1) return chosen ? { menu: replies.menu_place } : { text: last }
  if (last === MORE_KEY) return { text: words.more[0] as string }
  return { text: inputs.length === 2 && chosen ? `${chosen.code} ${last}` : last }
}

const TELEGRAM: Channel = {
  name: 'telegram',
  alwaysAnswers: false,
  style: (texts) => ({ ...smsStyle(texts), isLong: true }),
  write: ({ text }) => text,
}

/** A bot's webhook. The answer to the update is the call of the method that sends the reply: no token is needed here. */
function addTelegram(app: App, receive: Receiver, secret: string): void {
  app.route({
    method: 'POST',
    url: '/messages/telegram',
    ...COMMON,
    onRequest: async ({ headers }) => requireSecret(headers['x-telegram-bot-api-secret-token'], secret),
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const common = readCommon(request.query as Fields)
      const update = readUpdate(request.body)
      // Members that join, pictures in groups and whatever else a chat has.
      if (!update) return reply.send({})
      const { id, chat, text = common.texts.words.help[0] as string } = update
      const incoming: Incoming = {
        ...common,
        senders: 'telegram',
        sender: String(chat),
        id: String(id),
        text,
      }
      const answer = await receive(incoming, TELEGRAM, request.exchange)
      return reply.send(answer === '' ? {} : { method: 'sendMessage', chat_id: chat, text: answer })
    },
  })
}

/** What people send without a text: the help answers it. Members that join or pins are no message to the bot. */
const WORDLESS = [
  ...['photo', 'voice', 'audio', 'video', 'video_note', 'animation', 'document', 'sticker', 'paid_media'],
  ...['contact', 'poll', 'dice', 'game', 'story', 'checklist'],
]

/**
 * The text of an update: in private chats also the caption of a picture, and no text for a voice or an edited message;
 * a location as coordinates. Undefined where the bot stays silent.
 */
function readUpdate(body: unknown): { id: number; chat: number; text?: string } | undefined {
  if (!isObject(body)) return undefined
  const { update_id: id, message: sent, edited_message: edited } = body
  const message = isObject(sent) ? sent : edited
  if (!isObject(message) || !isObject(message.chat)) return undefined
  const { id: of, type = Number(of) > 0 ? 'private' : 'group' } = message.chat
  if (!Number.isSafeInteger(id) || !Number.isSafeInteger(of)) return undefined
  const known = { id: id as number, chat: of as number }
  const { location, caption } = message
  const isPrivate = type === 'private'
  const text = message.text ?? (isPrivate && caption ? caption : undefined)
  // A location that goes on is edited every few seconds.
  if (message === edited) return isPrivate && typeof text === 'string' ? known : undefined
  if (typeof text === 'string') {
    // A command without the name of the bot; links to bots have more behind `/start`.
    const plain = text.replace(/^(\/\w+)@\w+/, '$1').replace(/^\/start\s.*/s, '/start')
    return { ...known, text: readText({ text: plain }, 'text', LONGEST_TEXT) }
  }
  if (isObject(location)) {
    const { latitude, longitude } = location
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return undefined
    // Not as 1e-7.
    return { ...known, text: `${latitude.toFixed(6)} ${longitude.toFixed(6)}` }
  }
  return isPrivate && WORDLESS.some((kind) => message[kind] !== undefined) ? known : undefined
}
