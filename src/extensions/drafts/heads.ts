import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { LevelExtent } from '#src/raster/grid.ts'
import type { Guess, LabelledBand } from './labels.ts'
import {
  type Answers,
  answered,
  ask,
  groupBy,
  LEAVE_OUT,
  memberOf,
  nameBand,
  type Questions,
  unsaidText,
} from './questions.ts'
import type { Catalogue, Kind, Vocabulary } from './vocabulary.ts'

/** Members of the head of a manifest. */
export const HEADS = ['product', 'country', 'crop', 'month'] as const
export type Head = (typeof HEADS)[number]

export type ReleaseHead = Partial<Record<Head, Guess>>

const PRODUCT_CODES = PRODUCTS.list.map(({ code }) => code)

export function findProduct(code: string | undefined): ProductDefinition | undefined {
  return PRODUCTS.list.find((product) => product.code === code)
}

/** The product, country, crop and month of each band. */
export function readHeads(
  labelled: LabelledBand[],
  catalogue: Catalogue,
  vocabulary: Vocabulary,
  answers: Answers,
  questions: Questions,
): Map<LabelledBand, ReleaseHead> {
  const heads = new Map(labelled.map((one): [LabelledBand, ReleaseHead] => [one, {}]))
  for (const kind of HEADS) {
    const lacking: LabelledBand[] = []
    for (const [one, head] of heads) {
      const product = findProduct(head.product?.value)
      if (product && !product.seasonal && (kind === 'crop' || kind === 'month')) continue
      const guess = kind === 'product' ? readProduct(one, answers, questions) : one.labels[kind]
      if (kind === 'country') readCountry(one, guess, catalogue, answers, head, questions)
      else if (guess) head[kind] = guess
      if (!head[kind] && !isAsked(one, kind, questions) && !isOfAll(one, kind)) lacking.push(one)
    }
    askHead(kind, lacking, { heads, catalogue, vocabulary, answers, questions })
  }
  return heads
}

function isAsked({ band }: LabelledBand, kind: Kind, questions: Questions): boolean {
  return [...questions.values()].some(
    ({ member, bands }) => member === memberOf(kind) && bands.includes(band),
  )
}

/** Odds are of all releases of their season. */
function isOfAll({ labels }: LabelledBand, kind: Kind): boolean {
  return labels.role?.value === 'probability' && (kind === 'product' || kind === 'crop')
}

/** An input is of a product. */
function readProduct(one: LabelledBand, answers: Answers, questions: Questions): Guess | undefined {
  const { product, input } = one.labels
  const of = input?.meaning?.of
  if (!input || of === undefined) return product
  if (!product || product.value === of) return { value: of, from: `its input, ${input.value}` }
  const id = `product ${nameBand(one.band)}`
  const answer = answers.get(id)
  if (answer) return answered(answer)
  const text = `which is right? ${product.value} (${product.from}) or ${of} (${input.from})`
  const candidates = [product.value, of]
  ask(questions, { id, member: 'product', text, candidates, bands: [one.band], isOpen: false })
  return undefined
}

/** Parts of a grid, and of a country, from which on the grid may be of it. */
const INSIDE = 0.5
export const COVERED = 0.1

/** How much of a grid lies in the rectangle around a country, and how much of that it covers. */
export function fitExtent(
  own: LevelExtent,
  [west, south, east, north]: readonly [number, number, number, number],
): { inside: number; covered: number; fit: number } {
  const area = (box: LevelExtent) => Math.max(0, box.east - box.west) * Math.max(0, box.north - box.south)
  const both = area({
    west: Math.max(west, own.west),
    south: Math.max(south, own.south),
    east: Math.min(east, own.east),
    north: Math.min(north, own.north),
  })
  const [grid, country] = [area(own), area({ west, south, east, north })]
  return { inside: both / grid, covered: both / country, fit: both / (grid + country - both) }
}

/** The countries that a grid may be of, the likeliest first: of two, one has to fit twice as well. */
function findCountries(extent: LevelExtent, { countries }: Catalogue) {
  const fits = countries.flatMap(({ code, extent: of }) => (of ? [{ code, ...fitExtent(extent, of) }] : []))
  const all = fits.filter(({ inside, covered }) => inside >= INSIDE && covered >= COVERED)
  const sorted = all.toSorted((a, b) => b.fit - a.fit)
  const [best, second] = sorted
  const isSure = best !== undefined && (second === undefined || best.fit > 2 * second.fit)
  return {
    codes: sorted.map(({ code }) => code),
    isSure,
    /** Those that it may be a small part of, too. */
    holding: fits.filter(({ inside }) => inside >= INSIDE).map(({ code }) => code),
  }
}

/** By the name, and by the extent beside those of the countries. */
function readCountry(
  one: LabelledBand,
  named: Guess | undefined,
  catalogue: Catalogue,
  answers: Answers,
  head: ReleaseHead,
  questions: Questions,
): void {
  const { band } = one
  if (!band.measured) {
    if (named) head.country = named
    return
  }
  const { extent } = band.measured
  const { codes, isSure, holding } = findCountries(extent, catalogue)
  const [likeliest] = codes
  const place = `the extent ${extentText(extent)}`
  const isPlaced = catalogue.countries.some(({ code, extent }) => code === named?.value && extent)
  const isThere = named && (codes.includes(named.value) || holding.includes(named.value))
  if (named && (isThere || !isPlaced)) {
    const why = isThere ? `, and ${place} lies there` : ''
    head.country = { value: named.value, from: `${named.from}${why}` }
  } else if (!named && isSure && likeliest) head.country = { value: likeliest, from: place }
  else if (named || codes.length > 0) {
    const id = `country ${[named?.value ?? 'unnamed', ...codes].join(' ')}`
    const answer = answers.get(id)
    const candidates = [...new Set([...(named ? [named.value] : []), ...codes])]
    const says = named ? `${named.from} says ${named.value}, and ` : ''
    const text = `${says}${place} ${likeliest ? `lies in ${codes.join(' or ')}` : 'lies elsewhere'}: which is right?`
    if (answer) head.country = answered(answer)
    else ask(questions, { id, member: 'country_code', text, candidates, bands: [band], isOpen: true })
    head.country ??= named && { ...named }
  }
}

export function extentText({ west, south, east, north }: LevelExtent): string {
  return [west, south, east, north].map((degrees) => Number(degrees.toFixed(2))).join(', ')
}

interface Heads {
  heads: Map<LabelledBand, ReleaseHead>
  catalogue: Catalogue
  vocabulary: Vocabulary
  answers: Answers
  questions: Questions
}

/** One question for all bands that lack it; the value of all others is the likeliest. */
function askHead(kind: Head, lacking: LabelledBand[], all: Heads): void {
  const { heads, catalogue, vocabulary, answers, questions } = all
  const others = [...heads.values()].flatMap((head) => head[kind]?.value ?? [])
  const listCandidates = (one: LabelledBand) => {
    const country = catalogue.countries.find(({ code }) => code === heads.get(one)?.country?.value)
    const usual =
      kind === 'crop' ? (country?.crops ?? []) : kind === 'product' ? [...PRODUCT_CODES, LEAVE_OUT] : []
    return [...new Set([...others, ...usual])]
  }
  for (const group of groupBy(lacking, (one) => listCandidates(one).join('\n'))) {
    const [first] = group as [LabelledBand]
    const candidates = listCandidates(first)
    const id = `${kind} of ${nameBand(first.band)}`
    const answer = answers.get(id)
    const value = answer && (vocabulary.findOf(kind, answer)?.means ?? answer)
    const likeliest = candidates.length === 1 ? candidates[0] : undefined
    for (const one of group) {
      const head = heads.get(one) as ReleaseHead
      if (value !== undefined) head[kind] = { value, from: 'answered' }
      else if (likeliest !== undefined)
        head[kind] = { value: likeliest, from: 'as all others have it, or the only one' }
    }
    if (value !== undefined) continue
    const bands = group.map(({ band }) => band)
    ask(questions, { id, member: memberOf(kind), text: unsaidText(bands), candidates, bands, isOpen: true })
  }
}
