import { dirname, relative, sep } from 'node:path'
import { stringify } from 'yaml'
import { compareLayers } from '#src/ingest/source.ts'
import { shortNumber } from '#src/lib/round.ts'
import { type Band, listTiles } from './bands.ts'
import type { ManifestDraft } from './draft.ts'
import type { Guess } from './labels.ts'
import type { CheckedLayer } from './layers.ts'
import { type Answers, IGNORE, type Question } from './questions.ts'

/** A manifest as a text, and the lines of its questions, from 1, by their ids. */
export interface WrittenManifest {
  text: string
  lines: Map<string, number[]>
}

/**
 * Writes a draft in YAML. Behind each member stands what it was read from, and a question stands in the line `# ?` above
 * what it is about. As long as there are questions, answers stand at the end, which a second run reads.
 *
 * @param path of the manifest: files are relative to it
 */
export function writeManifest(draft: ManifestDraft, path: string, answers: Answers): WrittenManifest {
  const { head, season, source, licence, isSynthetic, allow, conditions, questions } = draft
  const page = new Page(questions)
  const members: [string, Guess | undefined][] = [
    ['product', head.product],
    ['country_code', head.country],
    ['crop', head.crop],
    ['forecast_period', head.month && withSeason(head.month, season)],
    ['source', source],
    ['licence', licence],
  ]
  page.line(DRAFTED)
  if (questions.length > 0) {
    page.comment('A line with a question mark is a question: mend what it is about, and delete it.')
  }
  for (const [member, guess] of members) {
    page.ask((question) => question.member === member && isOfHead(question, member))
    if (guess) page.member('', member, guess)
  }
  page.ask(({ member }) => member === 'allow')
  if (allow) page.member('', 'allow', allow)
  if (isSynthetic) page.line('synthetic: true # in the metadata of the files')
  if (conditions) {
    page.line('conditions:')
    page.member('  ', 'question', conditions.question)
    page.line('  titles:')
    for (const [name, title] of Object.entries(conditions.titles)) page.member('    ', scalar(name), title)
    page.ask(({ member }) => member === 'default', '  ')
    if (conditions.default) page.member('  ', 'default', conditions.default)
  }
  page.ask(({ member }) => member === 'layers')
  page.line('layers:')
  for (const layer of listValues(draft)) writeLayer(page, layer, draft, path)
  for (const layer of listOrphans(draft)) {
    page.ask(({ bands }) => bands.includes(layer.band), '  ')
    page.comment(`  of no layer: ${printable(layer.band.file)}`)
  }
  page.ask(({ id }) => !page.has(id))
  for (const answer of questions.length > 0 ? answers : [])
    page.line(printable(ANSWERED + JSON.stringify(answer)))
  return page.finish()
}

export const DRAFTED = '# Drafted by `agro draft`. Behind each line stands what it was read from.'
const ANSWERED = '# answered: '

/** The answers of a manifest that was drafted and still has questions; undefined for another one. */
export function readAnswers(text: string): [id: string, answer: string][] | undefined {
  if (!text.startsWith(DRAFTED) || !/^ *# \? /m.test(text)) return undefined
  const lines = text.split('\n').filter((line) => line.startsWith(ANSWERED))
  return lines.map((line) => JSON.parse(line.slice(ANSWERED.length)))
}

const HEAD_MEMBERS = ['product', 'country_code', 'crop', 'forecast_period', 'source', 'licence']

function isOfHead({ id }: Question, member: string): boolean {
  return HEAD_MEMBERS.includes(member) && !id.startsWith('word ')
}

function withSeason(month: Guess, season: string | undefined): Guess {
  return season ? { ...month, from: `${month.from}; season ${season}` } : month
}

type Labels = Parameters<typeof compareLayers>[0]

function labelsOf({ members: { input, scenario, condition } }: CheckedLayer): Labels {
  const named = condition && { condition: condition.value }
  return { input: input?.value ?? null, scenario: scenario?.value ?? null, ...named }
}

function listValues({ layers }: ManifestDraft): CheckedLayer[] {
  return layers
    .filter(({ members }) => !members.role)
    .toSorted((a, b) => compareLayers(labelsOf(a), labelsOf(b)))
}

function isAbout(companion: CheckedLayer, layer: CheckedLayer): boolean {
  const [own, other] = [labelsOf(companion), labelsOf(layer)]
  if (companion.members.role?.value === 'probability') return own.scenario === other.scenario
  return own.input === other.input && own.scenario === other.scenario && own.condition === other.condition
}

function listOrphans(draft: ManifestDraft): CheckedLayer[] {
  const values = listValues(draft)
  return draft.layers.filter((one) => one.members.role && !values.some((layer) => isAbout(one, layer)))
}

function writeLayer(page: Page, layer: CheckedLayer, draft: ManifestDraft, path: string): void {
  const { band, members, unit, scale, nodata } = layer
  const { product, layers } = draft
  const companions = layers.filter((one) => one.members.role && isAbout(one, layer))
  const about = [layer, ...companions].flatMap(({ band }) => [band, ...listTiles(band)])
  page.ask(
    ({ bands, member, id }) =>
      bands.some((one) => about.includes(one)) &&
      !isOfHead({ id } as Question, member) &&
      !['layers', 'allow'].includes(member),
    '  ',
  )
  if (layer.note) page.comment(`  ${layer.note}`)
  page.line(`  - ${filesText(band, path)}`)
  if (band.count > 1) page.line(`    band: ${band.number}${comment(band.description ?? '')}`)
  for (const member of ['input', 'scenario', 'condition'] as const) {
    const guess = members[member] ?? page.likeliest(member, layer)
    if (guess) page.member('    ', member, guess)
  }
  if (product) page.member('    ', 'unit', { value: product.unit, from: unitText(layer, unit) })
  if (scale) page.member('    ', 'scale', scale)
  const { offset = 0, facts } = band.measured ?? {}
  if (scale && offset !== 0) {
    page.line(`    offset: ${shortNumber((offset * Number(scale.value)) / (facts?.scale ?? 1))}`)
  }
  if (nodata) page.member('    ', 'nodata', nodata)
  writeCompanions(page, layer, companions, path)
}

function unitText({ band, scale }: CheckedLayer, unit: Guess | undefined): string {
  if (unit && !scale) return unit.from
  const { minimum, maximum } = band.measured?.statistics ?? {}
  if (minimum == null || maximum == null) return 'the unit of the product'
  return `the unit of the product; values from ${shortNumber(minimum)} to ${shortNumber(maximum)}`
}

const LARGEST_SHARE = 1.000001

function writeCompanions(page: Page, layer: CheckedLayer, companions: CheckedLayer[], path: string): void {
  const ends: Record<string, string> = { low: '0.1', high: '0.9' }
  for (const companion of companions) {
    const [role = '', quantile] = companion.members.role?.value.split(' ') ?? []
    if (role === 'probability' && page.isWritten(companion)) continue
    const { band, nodata } = companion
    const isPercent = role === 'probability' && (band.measured?.statistics.maximum ?? 0) > LARGEST_SHARE
    const parts = [
      ...(band.file === layer.band.file ? [] : [filesText(band, path)]),
      ...(band.count > 1 || band.file === layer.band.file ? [`band: ${band.number}`] : []),
      ...(isPercent ? ["unit: '%'"] : []),
      ...(nodata ? [`nodata: ${nodata.value}`] : []),
    ]
    page.line(`    ${role}: { ${parts.join(', ')} }${comment(companion.members.role?.from ?? '')}`)
    if (quantile) ends[role] = quantile
  }
  if (ends.low !== '0.1' || ends.high !== '0.9') page.line(`    range: [${ends.low}, ${ends.high}]`)
}

/** Files are relative to the manifest. */
function filesText(band: Band, manifest: string): string {
  const names = listTiles(band).map(({ path }) =>
    inBraces(relative(dirname(manifest), path).replaceAll(sep, '/')),
  )
  return band.tiles ? `files: [${names.join(', ')}]` : `file: ${names[0]}`
}

/** A value as YAML has it, in one line. */
function scalar(value: string): string {
  return stringify(value, { lineWidth: 0, defaultStringType: 'PLAIN', blockQuote: false }).trim()
}

function inBraces(value: string): string {
  return /[,[\]{}]/.test(value) ? JSON.stringify(value) : scalar(value)
}

const printable = (text: string) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?')

function comment(text: string): string {
  return text === '' ? '' : ` # ${printable(text)}`
}

/** Members that are no texts in YAML. */
const NO_TEXTS = ['scale', 'nodata', 'allow']

class Page {
  readonly #questions: readonly Question[]
  readonly #text: string[] = []
  readonly #lines = new Map<string, number[]>()
  readonly #written = new Set<CheckedLayer>()

  constructor(questions: readonly Question[]) {
    this.#questions = questions
  }

  line(text: string): void {
    this.#text.push(text)
  }

  comment(text: string): void {
    this.line(text.replace(/^( *)/, '$1# '))
  }

  member(indent: string, name: string, { value, from }: Guess): void {
    this.line(`${indent}${name}: ${NO_TEXTS.includes(name) ? value : scalar(value)}${comment(from)}`)
  }

  ask(isHere: (question: Question) => boolean, indent = ''): void {
    for (const { id, member, text, candidates } of this.#questions.filter(isHere)) {
      const listed = candidates.length > 0 ? ` [${candidates.join(' | ')}]` : ''
      this.line(`${indent}# ? ${printable(`${member}: ${text}${listed}`)}`)
      this.#lines.set(id, [...(this.#lines.get(id) ?? []), this.#text.length])
    }
  }

  has(id: string): boolean {
    return this.#lines.has(id)
  }

  /** What a nearly known word would say. */
  likeliest(member: string, { band }: CheckedLayer): Guess | undefined {
    const question = this.#questions.find(
      (one) => one.id.startsWith('word ') && one.member === member && one.bands.includes(band),
    )
    const [first, second, ...others] = question?.candidates ?? []
    const [, value] = /^\w+: (.*?)(?: \(\w+\))?$/.exec(first ?? '') ?? []
    return value && second === IGNORE && others.length === 0
      ? { value, from: 'where the question above is answered so' }
      : undefined
  }

  /** Whether odds are written already: once for all layers of a scenario. */
  isWritten(companion: CheckedLayer): boolean {
    const was = this.#written.has(companion)
    this.#written.add(companion)
    return was
  }

  finish(): WrittenManifest {
    return { text: `${this.#text.join('\n')}\n`, lines: this.#lines }
  }
}
