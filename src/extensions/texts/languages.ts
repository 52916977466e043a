import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { parse } from 'yaml'
import { SCENARIOS } from '#schemas/glossary.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { OperatorError } from '#src/errors.ts'
import { isDay } from '#src/lib/dates.ts'
import { nameKey } from '#src/lib/names.ts'
import { countSegments } from './segments.ts'

const STRICT = { additionalProperties: false }

/** One line, without white space at its ends. */
const Line = Type.String({ pattern: '^\\S(.*\\S)?$' })

/** The words of people for one thing, the first of them for menus. */
const Words = Type.Array(Line, { minItems: 1 })

function section<const Key extends string>(...keys: Key[]) {
  const lines = Object.fromEntries(keys.map((key) => [key, Line])) as Record<Key, typeof Line>
  return Type.Object(lines, STRICT)
}

/** The keys of replies to messages, as in the section `doors` of a file: speakers have files of their own. */
const REPLIES = [
  'help',
  'where',
  'which_place',
  'is_it_place',
  'or_write',
  'no_place',
  'no_word',
  'no_choice',
  'no_answer',
  'no_size',
  'no_more',
  'more',
  'more_key',
  'code',
  'no_code',
  'thanks',
  'no_harvest',
  'feedback_rule',
  'too_many',
  'again',
  'stopped',
  'menu',
  'menu_place',
] as const

/** What a language file says: a new key is added here and in each file. `{word}` stands for a value. */
const Sentences = Type.Object(
  {
    warnings: section('synthetic', 'stale'),
    too_long: Line,
    reasons: section('NO_DATA', 'OUTSIDE_COUNTRY', 'NO_RELEASE', 'CROP_NOT_AVAILABLE', 'UNKNOWN_AREA'),
    which_code: Line,
    months: Type.Array(Line, { minItems: 12, maxItems: 12 }),
    scenarios: section(...SCENARIOS.map(({ scenario }) => scenario)),
    products: Type.Record(Type.String(), Line),
    odds: section('none', 'some', 'all'),
    range: Line,
    area: Line,
    bags: section('one', 'many'),
    doors: section(...REPLIES),
    words: Type.Object(
      {
        help: Words,
        stop: Words,
        start: Words,
        more: Words,
        yes: Words,
        products: Type.Record(Type.String(), Words),
      },
      STRICT,
    ),
  },
  STRICT,
)

const LanguageFile = Type.Object(
  {
    language: Type.String({ pattern: '^[a-z]{2,3}$' }),
    name: Line,
    checked_by: Type.Optional(Line),
    checked_on: Type.Optional(Line),
    texts: Sentences,
  },
  STRICT,
)
type LanguageFile = Static<typeof LanguageFile>

/** What messages say in a language. */
export interface Texts extends Omit<Static<typeof Sentences>, 'doors'> {
  replies: Static<typeof Sentences>['doors']
  /** ISO 639: `en`. */
  language: string
  /** Its own name: "English". */
  name: string
}

interface Languages {
  /** By their codes, English first. */
  served: ReadonlyMap<string, Texts>
  refused: readonly { file: string; reason: string }[]
}

/** The language whose keys the others have, and that answers where no other is asked for. */
const FIRST = 'en'

const isLanguageFile = new Ajv().compile<LanguageFile>(LanguageFile)

/**
 * The languages of a folder. A file is served that has the keys of English with the same placeholders, and that somebody
 * has checked.
 *
 * @param today an ISO date
 * @throws {OperatorError} where English has a mistake
 */
export function readLanguages(folder: URL, today = new Date().toISOString().slice(0, 10)): Languages {
  const read = (name: string) => parse(readFileSync(new URL(name, folder), 'utf8')) as unknown
  const firstFile = `${FIRST}.yaml`
  const first = read(firstFile)
  const mistake = findMistake(first, FIRST) ?? findUnserved(first as LanguageFile, today)
  if (mistake !== undefined) throw new OperatorError(`${firstFile} ${mistake}.`)

  const english = first as LanguageFile
  const served = new Map([[FIRST, createTexts(english)]])
  const refused: { file: string; reason: string }[] = []
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== firstFile)
  for (const file of files.sort()) {
    try {
      const content = read(file)
      const language = file.slice(0, -'.yaml'.length)
      const reason =
        findMistake(content, language) ??
        findDifference(content as LanguageFile, english) ??
        findUnserved(content as LanguageFile, today)
      if (reason === undefined) served.set(language, createTexts(content as LanguageFile))
      else refused.push({ file, reason })
    } catch (error) {
      refused.push({ file, reason: `is no YAML: ${(error as Error).message}` })
    }
  }
  return { served, refused }
}

function createTexts({ language, name, texts: { doors: replies, ...others } }: LanguageFile): Texts {
  return { language, name, replies, ...others }
}

/** The rest of a sentence that begins with the file; undefined for none. */
function findMistake(content: unknown, language: string): string | undefined {
  if (!isLanguageFile(content)) {
    const [{ instancePath = '', message = '', params = {} } = {}] = isLanguageFile.errors ?? []
    const { additionalProperty: name } = params
    return `is not valid: ${instancePath || '/'} ${message}${name === undefined ? '' : `: ${name}`}`
  }
  return content.language === language ? undefined : `has the language ${content.language}`
}

function findUnserved(file: LanguageFile, today: string): string | undefined {
  const { checked_by, checked_on } = file
  if (checked_by === undefined || checked_on === undefined) return 'lacks checked_by or checked_on'
  if (!isDay(checked_on) || checked_on > today) return 'was checked on no day until today'
  return findMistakeOfMessages(file)
}

/** The longest values in replies. */
const LONGEST_VALUES = {
  example: 'X'.repeat(22),
  place: 'X'.repeat(30),
  code: 'K7',
  number: 99,
  count: 10_000,
}

/** USSD has it before each text. */
const BEFORE = 'CON '

/** The first mistake in the replies and the words of messages: each reply is one segment, and a word one command. */
function findMistakeOfMessages({ texts: { doors: replies, words } }: LanguageFile): string | undefined {
  const long = Object.entries(replies).find(
    ([, line]) => countSegments(BEFORE + fill(line, LONGEST_VALUES)) > 1,
  )
  if (long) return `must be shorter in doors.${long[0]}: a message has one segment`
  const { products: _, ...commands } = words
  const all = Object.values(commands).flat().map(nameKey)
  const twice = all.find((word, at) => all.indexOf(word) !== at || /^\d/.test(word))
  return twice === undefined ? undefined : `must have each command once, and as a word: ${twice}`
}

/** A language other than English names each product. */
function findDifference({ texts }: LanguageFile, english: LanguageFile): string | undefined {
  const codes = PRODUCTS.list.map(({ code }) => code)
  const unnamed = codes.find((code) => !Object.hasOwn(texts.products, code))
  if (unnamed !== undefined) return `has no name of the product ${unnamed}`
  const own = new Map(listLines(texts))
  const changed = listLines(english.texts).find(
    ([path, line]) => placeholdersIn(own.get(path) ?? '') !== placeholdersIn(line),
  )
  return changed && `must have the placeholders ${placeholdersIn(changed[1]) || '(none)'} in ${changed[0]}`
}

function listLines(value: object, above = ''): [path: string, line: string][] {
  return Object.entries(value).flatMap(([key, member]): [string, string][] =>
    typeof member === 'string' ? [[above + key, member]] : listLines(member, `${above + key}.`),
  )
}

const PLACEHOLDER = /\{(\w+)\}/g

function placeholdersIn(line: string): string {
  return (line.match(PLACEHOLDER) ?? []).sort().join(' ')
}

/** A line with its values. */
export function fill(line: string, values: Readonly<Record<string, string | number>>): string {
  return line.replaceAll(PLACEHOLDER, (_, name: string) => String(values[name]))
}

/** The languages of the service, as at its start. */
export const LANGUAGES = readLanguages(new URL('./', import.meta.url))

/** The texts of a served language, by default of English. */
export function textsIn(language: string = FIRST): Texts {
  return LANGUAGES.served.get(language) ?? (LANGUAGES.served.get(FIRST) as Texts)
}
