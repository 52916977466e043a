import { printable } from '#src/cli/table.ts'
import { question as askPerson } from '#src/cli/terminal.ts'
import { shortNumber } from '#src/lib/round.ts'
import { type Drop, listTiles } from './bands.ts'
import { type Context, type Draft, makeDraft } from './draft.ts'
import { extentText } from './heads.ts'
import { readName } from './names.ts'
import { KEEP, type Question } from './questions.ts'
import { readMeaning } from './releases.ts'
import { findPublishedLayer } from './scales.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Asks a person one question after the other, until all are answered, left for later, or the person ends it.
 *
 * @param answers takes those that are given
 */
export async function askAll(
  drop: Drop,
  context: Context,
  answers: Map<string, string>,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<Draft> {
  const skipped = new Set<string>()
  for (;;) {
    const draft = await makeDraft(drop, context, answers)
    const open = draft.questions.filter(({ id }) => !skipped.has(id))
    const [question] = open
    if (!question) return draft
    say(questionText(question, draft, open.length))
    const asking = askPerson('Answer by number or text, or "later": ', { fresh: true, signal })
    // Ctrl-C and Ctrl-D keep what is answered.
    const reply = (await asking.catch(() => undefined))?.trim()
    if (reply === undefined) return draft
    const answer = readAnswer(question, reply, context.vocabulary)
    if (reply.toLowerCase() === LATER) skipped.add(question.id)
    else if (reply !== '' && answer !== undefined) answers.set(question.id, answer)
    else
      say(
        `${reply === '' ? 'Nothing is chosen by Enter alone.' : 'That is not understood.'} ${howText(question)}`,
      )
  }
}

/** Leaves a question in the manifest. */
const LATER = 'later'

const HOW: Record<string, string> = {
  forecast_period: 'a month such as 2026-07',
  scale: 'a number',
  nodata: 'a number',
  file: 'a known word, or for example "input: NPS" or "scenario: Normal"',
  input: 'for example "input: NPS"',
  scenario: 'for example "Below Normal"',
}

/** What one may type. */
function howText({ member, candidates, isOpen, isYesNo }: Question): string {
  const { length } = candidates
  const ways = [
    ...(length > 0 ? [length === 1 ? '1' : `1 to ${length} for one of these`] : []),
    ...(isYesNo ? ['yes', ...candidates.slice(1, 2).map(() => 'no')] : []),
    ...(isOpen ? [HOW[member] ?? 'a text'] : []),
  ]
  return `Type ${ways.join(', ')}, or later.`
}

function questionText(question: Question, draft: Draft, open: number): string {
  const { member, text, candidates } = question
  const listed = candidates.map((candidate, index) => `  ${index + 1}  ${candidate}`)
  const more = open > 1 ? ` (${open - 1} more to answer)` : ''
  return ['', `${member}: ${text}${more}`, ...previewBand(question, draft), ...listed]
    .map(printable)
    .join('\n')
}

/** Of the first band that it is about, beside what is published. */
export function previewBand({ bands }: Question, { manifests }: Draft): string[] {
  const [band] = bands
  if (!band?.measured) return []
  const { extent, share, statistics } = band.measured
  const own = `  ${band.file}${band.count > 1 ? ` band ${band.number}` : ''}: ${statisticsText(statistics, share)}; extent ${extentText(extent)}`
  const manifest = manifests.find(({ layers }) =>
    layers.some((layer) => listTiles(layer.band).includes(band)),
  )
  const layer = manifest?.layers.find((one) => listTiles(one.band).includes(band))
  const before = layer && findPublishedLayer(layer, manifest?.published)
  if (!before) return [own]
  const part = before.validCount / (before.width * before.height)
  return [own, `  ${manifest?.published?.code} has there: ${statisticsText(before, part)}`]
}

function statisticsText(
  { minimum, mean, maximum }: { minimum: number | null; mean: number | null; maximum: number | null },
  share: number,
): string {
  const numbers = [minimum, mean, maximum].map((value) => (value === null ? 'none' : shortNumber(value)))
  return `minimum ${numbers[0]}, mean ${numbers[1]}, maximum ${numbers[2]}, values in ${(100 * share).toFixed(1)} % of the pixels`
}

/** As a person types it: in any case, without the brackets and quotation marks around it. */
const plain = (text: string) => text.toLowerCase().replaceAll(/^[\s[("'`]+|[\s\])"'`.]+$/g, '')

/** Elsewhere a number is that of a candidate. */
const NUMBERS = ['nodata', 'scale', 'forecast_period']

/** @returns undefined for one that says nothing */
export function readAnswer(question: Question, reply: string, vocabulary: Vocabulary): string | undefined {
  const { id, member, candidates, isOpen, isYesNo } = question
  const said = plain(reply)
  if (isYesNo && /^y(?:es)?$/.test(said)) return candidates[0]
  // N is also a nutrient.
  if (isYesNo && /^no?$/.test(said)) return said === 'n' && id.startsWith('word ') ? undefined : candidates[1]
  const numbered = /^\d{1,3}$/.test(said) ? candidates[Number(said) - 1] : undefined
  if (numbered !== undefined && member !== 'nodata' && member !== 'scale') return numbered
  const begun = candidates.filter((one) => (!isOpen || one === KEEP) && plain(one).startsWith(said))
  const [only] = begun.length === 1 && said.length > 2 ? begun : []
  const chosen = numbered ?? candidates.find((one) => plain(one) === said) ?? only
  const isNumber = /^\d+$/.test(reply)
  if (chosen !== undefined || !isOpen || (isNumber && !NUMBERS.includes(member))) return chosen
  if (member === 'forecast_period') {
    const found = readName(reply, vocabulary).readings.find(({ kind }) => kind === 'month')
    const month = found?.options[0]?.means
    return month && id.startsWith('word ') ? `month: ${month}` : month
  }
  if (id.startsWith('word ')) return readMeaning(reply, vocabulary) && reply
  if (id.startsWith('bands ')) {
    return reply.split(',').every((word) => readMeaning(word.trim(), vocabulary)) ? reply : undefined
  }
  if (member === 'scale' || member === 'nodata') return Number.isFinite(Number(reply)) ? reply : undefined
  const kind = ({ country_code: 'country', crop: 'crop', product: 'product' } as const)[member as 'crop']
  return kind ? vocabulary.findOf(kind, reply)?.means : reply
}
