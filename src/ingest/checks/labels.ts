import { basename } from 'node:path'
import { SCENARIOS, SEASONS } from '#schemas/glossary.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { editDistance, nameKey } from '#src/lib/names.ts'
import { shortNumber } from '#src/lib/round.ts'
import {
  type Check,
  type LayerFacts,
  labelLayer,
  listLayers,
  type ReleaseFacts,
  type Surroundings,
} from './rules.ts'

const STANDARD_SCENARIOS: readonly string[] = SCENARIOS.map(({ scenario }) => scenario)

/** What names say instead of a scenario; null for words of something else. */
const SCENARIO_WORDS: readonly [words: string, scenario: string | null][] = [
  ...STANDARD_SCENARIOS.map((scenario): [string, string] => [scenario, scenario]),
  ['near normal', 'Normal'],
  ...(['Above Normal', 'Below Normal'] as const).flatMap((scenario): [string, string | null][] => {
    const side = scenario.replace(' Normal', '')
    const others = ['ground', 'sea', 'surface', 'canopy'].map((what): [string, null] => [
      `${side} ${what}`,
      null,
    ])
    return [[side, scenario], [`${side} average`, scenario], ...others]
  }),
]

/** Letters of terciles. In names of files they may be words, such as "an", fertilizers or methods. */
const SCENARIO_LETTERS: Vocabulary = [
  ['an', 'Above Normal'],
  ['nn', 'Normal'],
  ['bn', 'Below Normal'],
]

/** Names that are another one but for these letters. */
function findLettered(names: readonly string[]): Set<string> {
  const others = new Map<string, string[]>()
  for (const name of new Set(names)) {
    const other = spell(name).replace(/ (?:an|nn|bn)(?= )/, ' *')
    if (other.includes('*')) others.set(other, [...(others.get(other) ?? []), name])
  }
  return new Set([...others.values()].filter(({ length }) => length > 1).flat())
}

/** @returns undefined for a name of its own */
function findScenario(name: string): string | null | undefined {
  return [...SCENARIO_WORDS, ...SCENARIO_LETTERS].find(([words]) => sameLetters(words, name))?.[1]
}

/** A name almost equal to another: requests for one miss the other. */
const names: Check = (release, surroundings) => {
  const layers = listLayers(release)
  const { inputs, scenarios } = surroundings.names
  const taken = { input: inputs, scenario: [...STANDARD_SCENARIOS, ...scenarios] }
  return (['input', 'scenario'] as const).flatMap((kind) => {
    const given = [...new Set(layers.flatMap((layer) => layer[kind] ?? []))]
    const unknown = given.filter((name) => !taken[kind].includes(name))
    return unknown.flatMap((name, at) => {
      const alias = kind === 'scenario' ? findScenario(name) : null
      const others = [...taken[kind], ...given.filter((other) => !unknown.slice(at).includes(other))]
      const same = others.find((other) => sameLetters(name, other)) ?? alias
      const meant = same ?? others.find((other) => close(name, other))
      if (!meant) return []
      const why = !same
        ? 'differs by a letter or two from'
        : sameLetters(name, same)
          ? 'differs only by case, spaces or hyphens from'
          : 'is another word for'
      const isTaken = taken[kind].includes(meant)
      const where = STANDARD_SCENARIOS.includes(meant) ? '' : isTaken ? ', which is published' : ' beside it'
      return {
        check: 'names',
        // Cultivars of one release may have near names on purpose.
        level: same || isTaken ? 'error' : 'note',
        sentence: `The ${kind} ${JSON.stringify(name)} ${why} ${JSON.stringify(meant)}${where}: is it the same?`,
        figures: { [kind]: name, known: meant },
      }
    })
  })
}

function lettersOf(name: string): string {
  return nameKey(name).replace(/[^\p{Letter}\p{Number}]/gu, '')
}

function sameLetters(a: string, b: string): boolean {
  return lettersOf(a) === lettersOf(b)
}

/** Short names differ on purpose: NPS is not NPK. Long names allow two wrong letters. */
const ONE_WRONG = 5
const TWO_WRONG = 9

/** Numbers never match other numbers. */
function close(a: string, b: string): boolean {
  const [left, right] = [lettersOf(a), lettersOf(b)]
  const length = Math.min(left.length, right.length)
  if (length < ONE_WRONG || digitsOf(left) !== digitsOf(right)) return false
  return editDistance(left, right) <= (length < TWO_WRONG ? 1 : 2)
}

function digitsOf(text: string): string {
  return text.replace(/\P{Number}/gu, '')
}

/** Words in small letters between spaces: cut at capitals, and between letters and digits. */
function spell(name: string): string {
  const cut = name
    .replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
  return ` ${nameKey(cut)} `
}

/** Words, and what they mean. */
type Vocabulary = readonly (readonly [words: string, meaning: string | null])[]

const ALTITUDE = / (?:above|below) \d+ m(?:asl)?(?= )/g

/** What a name says. Of words within others only the longer ones count. */
function readMeanings(name: string, vocabulary: Vocabulary): string[] {
  const said = new Set<string>()
  let rest = spell(name).replace(ALTITUDE, ' ')
  const forms = vocabulary.flatMap(([words, meaning]) => {
    const spelled = spell(words)
    return [spelled, ` ${spelled.replaceAll(' ', '')} `].map((form) => ({ form, meaning }))
  })
  for (const { form, meaning } of forms.sort((a, b) => b.form.length - a.form.length)) {
    if (!rest.includes(form)) continue
    rest = rest.replaceAll(form, ' | ')
    if (meaning !== null) said.add(meaning)
  }
  return [...said]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Dates of versions and issues are of no season. */
const OF_SEASON = '(?<=(?<! (?:v|version|issued?|init|run)) )'
const IN_NUMBERS = new RegExp(`${OF_SEASON}((?:19|20)\\d\\d) ?(0[1-9]|1[0-2])(?: ?[0-3]\\d)?(?= )`, 'g')
/** Apart, both may be other numbers. */
const MONTH_FIRST = new RegExp(`${OF_SEASON}(0[1-9]|1[0-2])((?:19|20)\\d\\d)(?= )`, 'g')
const MONTH = `(${['jan(?:uary)?', 'feb(?:ruary)?', 'mar(?:ch)?', 'apr(?:il)?', 'may', 'june?', 'july?', 'aug(?:ust)?', 'sept?(?:ember)?', 'oct(?:ober)?', 'nov(?:ember)?', 'dec(?:ember)?'].join('|')})`
const IN_WORDS = new RegExp(`(?<= )(?:${MONTH} ((?:19|20)\\d\\d)|((?:19|20)\\d\\d) ${MONTH})(?= )`, 'g')

/** Months between hyphens, which say that the numbers belong together. */
const HYPHENED: [RegExp, string][] = [
  [/(?<!\d-?)(?:(?:[0-2]?\d|3[01])-)?(0?[1-9]|1[0-2])-((?:19|20)\d\d)(?![\d-])/g, '$2-$1'],
  [/(?<!\d)((?:19|20)\d\d)-([1-9])(?!\d)/g, '$1-0$2'],
]

/** Months such as `2026-07`, from numbers and English names; of a season with `own` within it only that. */
function readMonths(name: string, own: string): string[] {
  const words = spell(HYPHENED.reduce((text, [form, order]) => text.replace(form, order), name))
  const months = [...words.matchAll(IN_NUMBERS)].map(([, year, month]) => `${year}-${month}`)
  for (const [, before, year, earlier, after] of words.matchAll(IN_WORDS)) {
    const month = MONTHS.indexOf((before ?? after ?? '').slice(0, 3)) + 1
    if (month > 0) months.push(`${year ?? earlier}-${String(month).padStart(2, '0')}`)
  }
  // Behind a date, six digits are a time of day.
  if (months.length === 0)
    for (const [, month, year] of words.matchAll(MONTH_FIRST)) months.push(`${year}-${month}`)
  const [first = own, ...others] = months.sort()
  return first <= own && own <= (others.at(-1) ?? first) ? [own] : months
}

interface Labelling {
  kind: string
  /** What the manifest says of a layer; undefined for nothing. */
  labelOf(layer: LayerFacts): string | null | undefined
  read(name: string, label: string): string[]
}

function listLabellings(release: ReleaseFacts, { words, names: published }: Surroundings): Labelling[] {
  const layers = listLayers(release)
  const { countryCode, cropCode, forecastPeriod } = release.series
  const lettered = findLettered(layers.flatMap(({ about }) => about?.names ?? []))
  const ofLayers = (['scenario', 'input', 'condition', 'role'] as const).map((kind): Labelling => {
    const own = [...layers.flatMap((layer) => layer[kind] ?? []), ...(OTHERS[kind]?.(published) ?? [])]
    const vocabulary: Vocabulary = own.map((label) => [label, meaningOf(label)])
    if (kind !== 'scenario')
      return { kind, labelOf: (layer) => layer[kind], read: (name) => readMeanings(name, vocabulary) }
    const all = [...vocabulary, ...SCENARIO_WORDS]
    const wordsOf = (name: string) => (lettered.has(name) ? [...all, ...SCENARIO_LETTERS] : all)
    return { kind, labelOf: (layer) => layer[kind], read: (name) => readMeanings(name, wordsOf(name)) }
  })
  return [
    ...ofLayers,
    // "et" is evapotranspiration, too, but at the beginning of a file name.
    {
      kind: 'country_code',
      labelOf: () => countryCode,
      read: (name) =>
        readMeanings(
          name,
          words.country_code.filter(
            ([word]) => word.length > 2 || spell(basename(name)).startsWith(spell(word)),
          ),
        ),
    },
    { kind: 'crop', labelOf: () => cropCode, read: (name) => readMeanings(name, words.crop) },
    { kind: 'forecast_period', labelOf: () => forecastPeriod && isoMonth(forecastPeriod), read: readMonths },
  ]
}

const OTHERS: Partial<Record<string, (names: Surroundings['names']) => string[]>> = {
  scenario: ({ scenarios }) => scenarios,
  input: ({ inputs }) => inputs,
}

function meaningOf(label: string): string {
  return findScenario(label) ?? label
}

/** Names of files and bands that say something else than the manifest: the commonest mistake of copied lines. */
const labels: Check = (release, surroundings) => {
  const named = listLayers(release).flatMap((layer) =>
    (layer.about?.names ?? []).map((name, index) => ({ layer, name, index })),
  )
  return listLabellings(release, surroundings).flatMap(({ kind, labelOf, read }) => {
    const labelled = named.flatMap((one) => {
      const label = labelOf(one.layer)
      return label ? { ...one, label, said: read(one.name, label) } : []
    })
    const differ = new Set(labelled.map(({ label }) => label)).size > 1
    // A word in the names of all is about no layer.
    const isAbout = (index: number, meaning: string) =>
      !(differ && labelled.every((one) => one.index !== index || one.said.includes(meaning)))
    const found = new Map<
      string,
      Omit<(typeof labelled)[number], 'index' | 'said'> & { files: Set<string>; said: string }
    >()
    for (const { layer, name, index, label, said } of labelled) {
      const meant = said.filter((meaning) => isAbout(index, meaning))
      if (meant.length === 0 || said.includes(label) || said.includes(meaningOf(label))) continue
      const one = { layer, name, label, said: meant.join(', '), files: new Set<string>() }
      const key = JSON.stringify([label, one.said])
      found.set(key, found.get(key) ?? one)
      found.get(key)?.files.add(name)
    }
    return [...found.values()].map(({ layer, name, label, said, files }): ReturnType<Check>[number] => {
      const more = files.size > 1 ? ` and ${files.size - 1} more say` : ' says'
      const line = kind in layer && layer.about?.line ? ` in line ${layer.about.line}` : ''
      return {
        check: 'labels',
        level: 'note',
        sentence: `The name ${JSON.stringify(name)}${more} ${said}, and the ${kind}${line} is ${label}: which is right?`,
        ...(kind in layer && { layer: labelLayer(layer) }),
        figures: { name, said, [kind]: label },
      }
    })
  })
}

/** Means, and counts of values, that differ by less are alike. */
const CLEARLY = 0.02

/** Yields that are best in the worst season and worst in the best one. */
const seasonOrder: Check = (release) => {
  const layers = listLayers(release).filter((one) => !one.role && !one.input && hasQuantities(one))
  return [...new Set(layers.map(({ condition }) => condition))].flatMap((condition) => {
    const found = SEASONS.flatMap(
      (season) =>
        layers.find((one) => one.scenario === season && one.condition === condition)?.statistics ?? [],
    )
    const counts = found.map(({ validCount }) => validCount)
    const means = found.map(({ mean }) => mean ?? Number.NaN) as [number, number, number]
    const isOfOnePlace = Math.max(...counts) <= Math.min(...counts) * (1 + CLEARLY)
    const rises = means[0] * (1 + CLEARLY) < means[1] && means[1] * (1 + CLEARLY) < means[2]
    if (found.length < SEASONS.length || !isOfOnePlace || !rises) return []
    const texts = SEASONS.map((season, at) => `${season} ${shortNumber(means[at] as number)}`)
    return {
      check: 'labels',
      level: 'note',
      sentence: `The means rise from the best season to the worst (${texts.join(', ')})${condition === undefined ? '' : ` for ${condition}`}: are Above Normal and Below Normal swapped?`,
      figures: { above: means[0], normal: means[1], below: means[2] },
    }
  })
}

export const LABEL_CHECKS: Check[] = [names, labels, seasonOrder]
