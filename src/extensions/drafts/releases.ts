import { SCENARIOS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Band, Drop } from './bands.ts'
import { findProduct, HEADS, type Head, type ReleaseHead, readHeads } from './heads.ts'
import { type Guess, type LabelledBand, labelBands } from './labels.ts'
import {
  type Answers,
  answered,
  ask,
  IGNORE,
  LEAVE_OUT,
  memberOf,
  nameBand,
  type Question,
  type Questions,
  unsaidText,
} from './questions.ts'
import { type Catalogue, type Kind, type Meaning, Vocabulary } from './vocabulary.ts'

export type Member = 'input' | 'scenario' | 'condition' | 'role'

export interface DraftLayer {
  band: Band
  members: Partial<Record<Member, Guess>>
  /** As the file says; the unit of the product where it says none. */
  unit: Guess | undefined
}

export interface DraftRelease {
  head: ReleaseHead
  product: ProductDefinition | undefined
  season: string | undefined
  layers: DraftLayer[]
  /** Of damaged files that are left out. */
  without: DraftLayer[]
}

/** Empty where nothing is known. */
export function labelsText({ members }: Pick<DraftLayer, 'members'>): string {
  const { input, scenario, condition, role } = members
  const values = [input, scenario, condition, role].flatMap((one) => one?.value ?? [])
  return values.filter((value) => value !== 'value').join(', ')
}

export interface Sorted {
  releases: DraftRelease[]
  questions: Question[]
  leftOut: { file: string; reason: string }[]
}

/**
 * Sorts the bands of a folder into releases. Answers of before count; all that is still uncertain is a question, and has its
 * likeliest value meanwhile.
 */
export function sortBands(drop: Drop, catalogue: Catalogue, words: Vocabulary, answers: Answers): Sorted {
  const vocabulary = withAnswers(words, answers)
  const leftOut: Sorted['leftOut'] = []
  const labelled = labelBands(drop, vocabulary).filter(({ band, labels }) => {
    const isLayer = band.fault === undefined || [...MEMBERS, 'product' as const].some((kind) => labels[kind])
    if (!isLayer) leftOut.push({ file: nameBand(band), reason: band.fault ?? '' })
    return isLayer
  })
  const questions = askBands(labelled, answers, vocabulary)
  const heads = readHeads(labelled, catalogue, vocabulary, answers, questions)
  const releases = new Map<string, DraftRelease>()
  for (const one of labelled) {
    const { band, labels } = one
    const head = heads.get(one) ?? {}
    const isOut = answers.get(`fault ${band.file}`) === LEAVE_OUT
    const isOther = head.product?.value === LEAVE_OUT
    if (isOut || isOther) leftOut.push({ file: nameBand(band), reason: 'as answered' })
    if (isOther) continue
    const key = JSON.stringify(HEADS.map((kind) => head[kind]?.value ?? null))
    const release = releases.get(key) ?? startRelease(head)
    releases.set(key, release)
    release.season ??= labels.season?.value
    const layer = { band, members: readMembers(one), unit: labels.unit }
    ;(isOut ? release.without : release.layers).push(layer)
  }
  const all = placeOdds([...releases.values()])
  for (const release of all) {
    const ofRelease = labelled.filter(({ band }) => release.layers.some((layer) => layer.band === band))
    askWords(ofRelease, release, answers, questions)
    askMembers(release, vocabulary, answers, questions)
  }
  return { releases: all, questions: listFirst([...questions.values()]), leftOut }
}

/** Words come first, whose answers say more. What a band lacks depends on its product, which an input says as well. */
function listFirst(all: readonly Question[]): Question[] {
  const bandsOf = (asked: Question['member']) =>
    new Set(all.filter(({ member }) => member === asked).flatMap(({ bands }) => bands))
  const [ofProduct, ofInput] = [bandsOf('product'), bandsOf('input')]
  const waits = ({ bands }: Question) => bands.every((band) => ofProduct.has(band) && !ofInput.has(band))
  const isFirst = ({ member, id }: Question) =>
    ['product', 'band'].includes(member) || id.startsWith('fault ')
  const questions = all.filter((one) => isFirst(one) || !waits(one))
  const isWord = ({ id }: Question) => id.startsWith('word ')
  return [...questions.filter(isWord), ...questions.filter((one) => !isWord(one))]
}

const MEMBERS = ['input', 'scenario', 'condition', 'role'] as const

function startRelease(head: ReleaseHead): DraftRelease {
  return { head, product: findProduct(head.product?.value), season: undefined, layers: [], without: [] }
}

function readMembers({ labels }: LabelledBand): DraftLayer['members'] {
  const found = MEMBERS.flatMap((kind) => (labels[kind] ? [[kind, labels[kind]] as const] : []))
  return Object.fromEntries(found)
}

/** Answers about words are words. */
function withAnswers(words: Vocabulary, answers: Answers): Vocabulary {
  const made = new Vocabulary(words)
  for (const [id, answer] of answers) {
    const [, word] = /^word (.*)$/.exec(id) ?? []
    if (word === undefined) continue
    const meaning = readMeaning(answer, words)
    if (meaning) made.add(word, { ...meaning, sure: true }, true)
  }
  return made
}

/** `nothing`, a known word, or a kind with a name, such as `input: CBE`. */
export function readMeaning(answer: string, words: Vocabulary): Meaning | undefined {
  if (answer === IGNORE) return { kind: 'nothing', means: '', sure: true }
  const [, kind = '', name = ''] =
    /^(input|scenario|condition|country|crop|product|role|month|unit|season): (.+)$/.exec(answer) ?? []
  if (kind) {
    const [of, means] = kind === 'input' ? splitInput(name) : [undefined, name]
    return { ...words.findOf(kind as Kind, means), kind: kind as Kind, means, sure: true, ...(of && { of }) }
  }
  const [known, ...others] = words.find(answer.trim().toLowerCase().split(/\s+/))
  return others.length === 0 ? known : undefined
}

/** `Compost (isfm)`. */
function splitInput(name: string): [of: string | undefined, means: string] {
  const [, means = name, of] = /^(.+) \((\w+)\)$/.exec(name) ?? []
  return [of, means]
}

/** Contradictions of names, bands without names, and files that cannot be read. */
function askBands(labelled: LabelledBand[], answers: Answers, vocabulary: Vocabulary): Questions {
  const questions: Questions = new Map()
  for (const one of labelled) {
    const { band, labels, conflicts } = one
    for (const conflict of conflicts) {
      if (conflict.kind === 'season' || conflict.kind === 'nothing') continue
      const id = `${conflict.kind} ${nameBand(band)}`
      const answer = answers.get(id)
      const known = answer && (vocabulary.findOf(conflict.kind, answer)?.means ?? answer)
      const label =
        conflict.labels.find(({ value }) => value === known) ?? (known ? answered(known) : undefined)
      if (label) labels[conflict.kind] = label
      else {
        const text = `which is right? ${conflict.labels.map(({ value, from }) => `${value} (${from})`).join(', ')}`
        const candidates = conflict.labels.map(({ value }) => value)
        ask(questions, { id, member: memberOf(conflict.kind), text, candidates, bands: [band], isOpen: true })
      }
    }
  }
  for (const file of new Set(labelled.map(({ band }) => band.file))) {
    const ofFile = labelled.filter(({ band }) => band.file === file)
    askFault(ofFile, answers, questions)
    askOrder(ofFile, answers, vocabulary, questions)
  }
  return questions
}

/** One question for a damaged file, and for what is missing without it. */
function askFault(labelled: LabelledBand[], answers: Answers, questions: Questions): void {
  const bands = labelled.map(({ band }) => band)
  const [{ fault, file } = {}] = bands
  const id = `fault ${file}`
  if (fault === undefined || answers.has(id)) return
  const lost = labelled.flatMap((one) => labelsText({ members: readMembers(one) }) || []).join('; ')
  const text = `${fault}: get it again, or leave it out${lost && `, and publish without ${lost}`}?`
  ask(questions, { id, member: 'file', text, candidates: [LEAVE_OUT], bands, isOpen: false, isYesNo: true })
}

const SCENARIO_NAMES = SCENARIOS.map(({ scenario }) => scenario)

/** Bands of a file that nothing distinguishes are known by their order. */
function askOrder(
  bands: LabelledBand[],
  answers: Answers,
  vocabulary: Vocabulary,
  questions: Questions,
): void {
  const [first] = bands
  if (!first || bands.length === 1) return
  const keyOf = ({ labels }: LabelledBand) => JSON.stringify(MEMBERS.map((kind) => labels[kind]?.value))
  if (new Set(bands.map(keyOf)).size === bands.length) return
  const id = `bands ${first.band.file}`
  const words =
    answers
      .get(id)
      ?.split(',')
      .map((word) => readMeaning(word.trim(), vocabulary)) ?? []
  if (words.length === bands.length && !words.includes(undefined)) {
    bands.forEach(({ labels }, at) => {
      const meaning = words[at] as Meaning
      labels[meaning.kind] = { value: meaning.means, from: 'answered', meaning }
    })
    return
  }
  const orders = [SCENARIO_NAMES, SCENARIO_NAMES.slice(0, 3), ['value', 'low', 'high']]
  const candidates = orders.filter(({ length }) => length === bands.length).map((order) => order.join(', '))
  const text = `${first.band.file} has ${bands.length} bands, whose names do not say which is which: name them in their order, with commas`
  ask(questions, { id, member: 'band', text, candidates, bands: bands.map(({ band }) => band), isOpen: true })
}

/** Odds without a product go to each release of their country and month. */
function placeOdds(releases: DraftRelease[]): DraftRelease[] {
  const isOdds = ({ product, layers }: DraftRelease) =>
    product === undefined && layers.every(({ members }) => members.role?.value === 'probability')
  const odds = releases.filter(isOdds)
  const others = releases.filter((one) => !isOdds(one))
  for (const one of odds) {
    const targets = others.filter(({ head, product }) => {
      const isSame = (kind: Head) => !one.head[kind] || head[kind]?.value === one.head[kind]?.value
      return product?.seasonal && isSame('country') && isSame('month') && isSame('crop')
    })
    for (const { layers } of targets) layers.push(...one.layers)
    if (targets.length === 0) others.push(one)
  }
  return others
}

/** Unsure words, nearly known ones, and unknown ones: `gap` or `per acre` in all names is another product, or another unit. */
function askWords(
  labelled: LabelledBand[],
  release: DraftRelease,
  answers: Answers,
  questions: Questions,
): void {
  const lacksInput = ({ labels }: LabelledBand) => Boolean(release.product?.input) && !labels.input
  for (const one of labelled) {
    for (const { word, kind, why, options, isUnknown } of one.open) {
      const id = `word ${word}`
      if (answers.has(id)) continue
      const inputs = isUnknown && lacksInput(one) ? [`input: ${titled(word)}${ofProduct(release)}`] : []
      const meant = options.map(({ kind, means, of }) => `${kind}: ${means}${of ? ` (${of})` : ''}`)
      const candidates = [...meant, ...inputs, IGNORE]
      const member =
        kind === undefined || kind === 'nothing' ? (inputs.length > 0 ? 'input' : 'file') : memberOf(kind)
      const text = `"${word}" ${why}`
      const isYesNo = options.length === 1
      ask(questions, { id, member, text, candidates, bands: [one.band], isOpen: true, isYesNo })
    }
  }
}

function ofProduct({ product }: DraftRelease): string {
  return product ? ` (${product.code})` : ''
}

function titled(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What a layer of its product has to have: where all lack it, one answer is for all. */
function askMembers(
  { product, layers }: DraftRelease,
  vocabulary: Vocabulary,
  answers: Answers,
  questions: Questions,
): void {
  for (const { members } of layers) if (members.role?.value === 'value') delete members.role
  const names = (kind: Kind) =>
    vocabulary.listOf(kind).flatMap(({ of, means }) => (of === product?.code ? [means] : []))
  const isValue = ({ members }: DraftLayer) => members.role?.value !== 'probability'
  const wanted = [
    { kind: 'scenario', of: product?.seasonal === false ? [] : layers, candidates: SCENARIO_NAMES },
    { kind: 'input', of: product?.input ? layers.filter(isValue) : [], candidates: names('input') },
  ] as const
  for (const { kind, of, candidates } of wanted) {
    const lacking = of.filter(({ band, members }) => !members[kind] && !isAskedOf(band, kind, questions))
    const groups = lacking.length === of.length ? [lacking] : lacking.map((layer) => [layer])
    for (const group of groups) {
      const [first] = group
      if (!first) continue
      const bands = group.map(({ band }) => band)
      const id = `${kind} of ${group.length > 1 ? 'all with ' : ''}${nameBand(first.band)}`
      const answer = answers.get(id)
      const value = answer && (vocabulary.findOf(kind, answer)?.means ?? answer)
      if (value) for (const { members } of group) members[kind] = { value, from: 'answered' }
      else {
        const text = unsaidText(bands)
        ask(questions, { id, member: kind, text, candidates, bands, isOpen: true })
      }
    }
  }
}

/** A word or the order of bands may be what says it. */
function isAskedOf(band: Band, kind: Kind, questions: Questions): boolean {
  return [...questions.values()].some(
    ({ id, member, bands }) =>
      bands.includes(band) &&
      (member === kind || id.startsWith('bands ') || id === `${kind} ${nameBand(band)}`),
  )
}
