import { isObservable, type ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { NamedArea } from '#src/extensions/places/gazetteer.ts'
import { type AskedCondition, composePages, findQuestion, inOneLine } from '#src/extensions/texts/compose.ts'
import { fill, type Texts } from '#src/extensions/texts/languages.ts'
import { countSegments } from '#src/extensions/texts/segments.ts'
import {
  type AskedPlace,
  CODE_DIGITS,
  CODE_LETTERS,
  type HarvestUnit,
  type Parsed,
  type Question,
  type Subject,
} from './grammar.ts'
import type { Offer, Reply } from './queries.ts'

export interface Advised {
  products: ProductDefinition[]
  /** An answer for all products, with the section of each. */
  body: Record<string, unknown>
  releases: string[]
}

/** How a channel writes. */
export interface Style {
  /** Stands before each text; empty for nothing. */
  before: string
  /** Follows a page that others follow, with the space between. */
  more: string
  /** Ends a list of which some did not fit. */
  orWrite: string
  /** Whether a message has room for all pages. */
  isLong: boolean
}

/** The service as a conversation uses it; each function throws {ApiError}. */
export interface Services {
  texts: Texts
  products: readonly ProductDefinition[]
  /** A message such as people may send: a word of the catalogue, and a place. */
  example: string
  style: Style
  /** No candidates where no place is called so. */
  findPlace(text: string): Promise<{ place: AskedPlace } | { candidates: readonly NamedArea[] }>
  advise(question: Question): Promise<Advised>
  findAnswer(code: string): Promise<{ id: Buffer; answer: Record<string, unknown> } | undefined>
  storeFeedback(id: Buffer, feedback: { rating?: number; observed?: Record<string, number> }): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
}

/** The reply to a message after the offer of the last reply. @throws {ApiError} for a busy service */
export async function converse(
  parsed: Parsed,
  offer: Offer | null,
  lastCode: string | null,
  services: Services,
): Promise<Reply> {
  const { texts, example } = services
  const say = (text: string, isOpen = false): Reply => ({ text, isOpen, offer })
  switch (parsed.kind) {
    case 'start':
      await services.start()
      return say(fill(texts.replies.help, { example }), true)
    case 'help':
      return say(fill(texts.replies.help, { example }), true)
    case 'stop':
      await services.stop()
      return { text: texts.replies.stopped, isOpen: false, offer: null }
    case 'more':
      return turnPage(offer, services)
    case 'choice': {
      const { number } = parsed
      const choices = offer?.choices ?? []
      const chosen = number !== 'YES' ? choices[number - 1] : choices.length === 1 ? choices[0] : undefined
      if (chosen) return answer(chosen, lastCode, services)
      if (!offer?.choices && lastCode !== null && !(Number(number) > MOST_STARS))
        return say(fill(texts.replies.feedback_rule, { code: lastCode }), true)
      return say(fill(texts.replies.no_choice, { number }), true)
    }
    case 'feedback':
      return say(await takeFeedback(parsed, services))
    case 'question':
      return answerQuestion(parsed, offer, lastCode, services)
  }
}

function turnPage(offer: Offer | null, { texts, style }: Services): Reply {
  const [page, ...rest] = offer?.rest ?? []
  if (page === undefined) return { text: texts.replies.no_more, isOpen: false, offer }
  const isLast = rest.length === 0
  const isOpen = !isLast || offer?.choices !== undefined
  return { text: isLast ? page : page + style.more, isOpen, offer: { ...offer, rest } }
}

type Sent = Extract<Parsed, { kind: 'question' }>

/** A question without a word is about the subject of the last one, and without a place about that place. */
async function answerQuestion(
  sent: Sent,
  offer: Offer | null,
  lastCode: string | null,
  services: Services,
): Promise<Reply> {
  const found = await findPart(sent, offer, services)
  if ('isOpen' in found) return found
  if ('text' in found) {
    const { text, subject } = found
    return { text, isOpen: true, offer: subject ? { ...offer, subject } : offer }
  }
  const { subject, area } = found
  if ('candidates' in found) {
    const questions = found.candidates.map((candidate) => ({ subject, place: toPlace(candidate), area }))
    const asked = askWhich(found.candidates.map(nameFully), questions, services)
    return { ...asked, offer: { ...asked.offer, subject } }
  }
  return answer({ subject, place: found.place, area }, lastCode, services)
}

/** Asks for one of some places; of a single one, whether it is meant. */
function askWhich(names: readonly string[], questions: Question[], { texts, style }: Services): Reply {
  const [name = '', ...others] = names
  if (others.length > 0) return choose(texts.replies.which_place, names, questions, style)
  const text = fill(texts.replies.is_it_place, { place: shorten(name) })
  return { text, isOpen: true, offer: { choices: questions } }
}

type Part = { subject: Subject; area: string | null } & (
  | { place: AskedPlace }
  | { candidates: readonly NamedArea[] }
)

/** The subject and the place of a question, or the reply that asks for the missing one. */
async function findPart(
  { subject, place, area, guess }: Sent,
  offer: Offer | null,
  services: Services,
): Promise<Part | Reply | { text: string; subject: Subject | null }> {
  const { texts, example, products } = services
  const everything: Subject = { products: products.map(({ code }) => code) }
  const fallback = offer?.subject ?? everything
  if (place === '') {
    if (offer?.place && (subject || area)) return { subject: subject ?? fallback, place: offer.place, area }
    return { text: fill(texts.replies[subject ? 'where' : 'help'], { example }), subject }
  }
  const found = await findUnless(place, services)
  if (found) return { subject: subject ?? fallback, area, ...found }
  // "WHAET FICHE": the whole is no place, but a part of it is.
  if (guess?.subject) return findPart({ kind: 'question', area, guess: null, ...guess }, offer, services)
  if (subject === null) {
    return (
      (await askForSubject(place, area, services)) ?? { text: fill(texts.replies.help, { example }), subject }
    )
  }
  return { text: texts.replies.no_place, subject }
}

/** Asks for a product where a place stands beside a word that is not known, such as a crop that is not there. */
async function askForSubject(text: string, area: string | null, services: Services) {
  const { texts, products, style } = services
  const words = text.split(' ')
  for (const others of [words.slice(1), words.slice(0, -1)]) {
    const found = others.length > 0 ? await findUnless(others.join(' '), services) : undefined
    if (!found || !('place' in found)) continue
    const questions = products.map(({ code }) => ({
      subject: { products: [code] },
      place: found.place,
      area,
    }))
    const names = products.map(({ code, names }) => texts.products[code] ?? names.subject)
    // Replies are stored, and words of people are not.
    const { name, lat, lng } = found.place
    const place = name === null ? `${lat} ${lng}` : shorten(name)
    return choose(fill(texts.replies.no_word, { place }), names, questions, style)
  }
  return undefined
}

/** Undefined where no place is called so. */
async function findUnless(text: string, { findPlace }: Services) {
  try {
    const found = await findPlace(text)
    if ('place' in found) return { place: pickPlace(found.place) }
    return found.candidates.length === 0 ? undefined : found
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  }
}

async function answer(question: Question, lastCode: string | null, services: Services): Promise<Reply> {
  const { texts, style } = services
  const offer: Offer = { subject: question.subject, place: question.place }
  let advised: Advised
  try {
    advised = await services.advise(question)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    const reasons: Readonly<Record<string, string>> = texts.reasons
    const isOfSize = error.details?.[0]?.field.startsWith('area') ?? false
    const text = isOfSize ? texts.replies.no_size : (reasons[error.code] ?? texts.replies.no_answer)
    return { text, isOpen: isOfSize, offer }
  }
  const { products, body, releases } = advised
  const asked = findQuestion(products, body)
  const choices = asked?.conditions.map((condition) => ({ ...question, condition })) ?? []
  const code = nextCode(lastCode)
  const mark = fill(texts.replies.code, { code })
  const compose = (...behind: string[]) => {
    const reserve = [style.before, ...behind].join(' ').trim()
    return composePages(products, body, texts, { label: question.place.name ?? '', reserve })
  }
  let pages = compose(mark)
  if (pages.length + Math.sign(choices.length) > 1) pages = compose(mark, style.more.trim())
  if (asked) pages.splice(1, 0, ask(asked, choices, pages.length > 1 ? style.more : '', style))
  // A question alone has nothing to be judged.
  const isAnswer = !asked || pages.length > 1
  const [first = texts.too_long, ...others] = pages
  const rest = style.isLong ? [] : others
  const text = style.isLong ? pages.join('\n') : first
  return {
    text: `${text}${isAnswer ? ` ${mark}` : ''}${rest.length > 0 ? style.more : ''}`,
    isOpen: rest.length > 0 || choices.length > 0,
    offer: { ...offer, ...(choices.length > 0 && { choices }), ...(rest.length > 0 && { rest }) },
    ...(isAnswer && { record: { code, releases, answer: pickObservable(advised) } }),
  }
}

/** The page that asks for the condition of the field: behind the first, since a product waits for it. */
function ask(
  { question, conditions }: AskedCondition,
  choices: Question[],
  behind: string,
  style: Style,
): string {
  return choose(question, conditions, choices, { ...style, before: style.before + behind }).text
}

/** Asks for the number of a choice, of as many as fit into a segment; a question that is too long is left out. */
function choose(
  question: string,
  names: readonly string[],
  choices: Question[],
  { before, orWrite }: Style,
): Reply {
  const list = names.map((name, index) => `${index + 1} ${shorten(name)}`)
  for (const start of [`${question} `, '']) {
    for (let most = list.length; most > 0; most--) {
      const shown = [...list.slice(0, most), ...(most < list.length ? [orWrite] : [])]
      const text = `${start}${shown.join('; ')}.`
      if (countSegments(before + text) > 1) continue
      return { text, isOpen: true, offer: { choices: choices.slice(0, most) } }
    }
  }
  return { text: question, isOpen: true, offer: null }
}

/** Letters of a name in a list or in a sentence. */
const LONGEST_NAME = 30

export function shorten(name: string, most = LONGEST_NAME): string {
  const characters = [...inOneLine(name)]
  const isLong = characters.length > most
  return isLong ? `${characters.slice(0, most - 3).join('')}...` : characters.join('')
}

/** An area as a conversation has it. */
export function toPlace(area: NamedArea): AskedPlace {
  return pickPlace({ ...area, area })
}

/** A place with the members alone that a conversation needs: it is stored. */
function pickPlace({ name, lat, lng, area }: AskedPlace): AskedPlace {
  return {
    name,
    lat,
    lng,
    area: area && { countryCode: area.countryCode, level: area.level, code: area.code },
  }
}

function nameFully({ name, parent, countryCode }: NamedArea): string {
  const above = parent ?? countryCode.toUpperCase()
  return name.includes(above) ? name : `${name}, ${above}`
}

/** Codes follow one another, so that those of a sender repeat as late as possible. */
function nextCode(last: string | null): string {
  const [letters, digits] = [CODE_LETTERS.length, CODE_DIGITS.length]
  const place =
    last === null ? -1 : CODE_LETTERS.indexOf(last.charAt(0)) + letters * CODE_DIGITS.indexOf(last.charAt(1))
  const next = (place + 1) % (letters * digits)
  return `${CODE_LETTERS[next % letters]}${CODE_DIGITS[Math.floor(next / letters)]}`
}

/** The place and the sections that a harvest can be held against: feedback needs nothing else. */
function pickObservable({ products, body }: Advised): object {
  const sections = products.filter(isObservable).flatMap(({ code, entries }) => {
    const section = body[code] as Record<string, unknown> | undefined
    return Array.isArray(section?.[entries]) ? [[code, { [entries]: section[entries] }]] : []
  })
  return { location: body.location, ...Object.fromEntries(sections) }
}

/** Districts of most countries are smaller; of a larger area the place of a harvest is unknown. */
const MOST_HECTARES = 1_000_000

const KILOGRAMS: Readonly<Record<HarvestUnit, number>> = { kg: 1, q: 100, t: 1000 }

/** A smaller harvest is a mistake: most farmers count quintals. */
const LEAST_KILOGRAMS = 50

const MOST_STARS = 5

/** A number from 1 to 5 rates an answer, a larger one is the harvest; a later number replaces an earlier one. */
async function takeFeedback(
  { code, number, unit }: Extract<Parsed, { kind: 'feedback' }>,
  { texts: { replies }, products, findAnswer, storeFeedback }: Services,
): Promise<string> {
  const found = await findAnswer(code)
  if (!found) return fill(replies.no_code, { code })
  if (Number.isNaN(number)) return fill(replies.feedback_rule, { code })
  if (unit === null && Number.isInteger(number) && number >= 1 && number <= MOST_STARS) {
    await storeFeedback(found.id, { rating: number })
    return fill(replies.thanks, { code })
  }
  const { area_ha = 0 } = found.answer.location as { area_ha?: number }
  const harvested = products.find(({ code }) => code in found.answer)
  if (!harvested?.observed || area_ha > MOST_HECTARES) return fill(replies.no_harvest, { code })
  const kilograms = number * KILOGRAMS[unit ?? 'kg']
  const value = harvested.unit.startsWith('t/') ? kilograms / KILOGRAMS.t : kilograms
  if (kilograms < LEAST_KILOGRAMS || value > harvested.observed.maximum) {
    return fill(replies.feedback_rule, { code })
  }
  await storeFeedback(found.id, { observed: { [harvested.observed.key]: value } })
  return fill(replies.thanks, { code })
}
