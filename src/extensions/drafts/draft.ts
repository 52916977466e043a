import { RESTATING_SCENARIOS, SEASONS } from '#schemas/glossary.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { listCountryEntries, listCropEntries } from '#src/catalog/reference-queries.ts'
import { listLayers, listReleases } from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/database.ts'
import { findSurroundings } from '#src/ingest/checks/queries.ts'
import type { Surroundings } from '#src/ingest/checks/rules.ts'
import { percentText } from '#src/lib/round.ts'
import { sameGrid } from '#src/raster/grid.ts'
import { type Band, type Drop, joinTiles, listTexts, listTiles, type Measured, matchValues } from './bands.ts'
import { type Checked, checkRelease, lacksLabels, twiceId } from './checks.ts'
import { COVERED, fitExtent } from './heads.ts'
import type { Guess } from './labels.ts'
import { type CheckedLayer, keyOf, type Published, sisterKey } from './layers.ts'
import { type Answers, answered, groupBy, nameBand, nameBands, type Question, TILES } from './questions.ts'
import { type DraftLayer, type DraftRelease, sortBands } from './releases.ts'
import { type Catalogue, partsOf, readVocabulary, type Vocabulary } from './vocabulary.ts'

/** What the database knows, and the operator. */
export interface Context {
  database: Database
  catalogue: Catalogue
  vocabulary: Vocabulary
}

export async function openContext(database: Database, words: string | undefined): Promise<Context> {
  const { writer } = database
  const countries = await listCountryEntries(writer)
  const crops = await listCropEntries(writer)
  const [country] = countries
  const names: { product: string; inputs: string[]; scenarios: string[] }[] = []
  for (const { code: product } of country ? PRODUCTS.list : []) {
    const series = { product, countryCode: country?.code ?? '', cropCode: null, forecastPeriod: null }
    const { names: found } = await findSurroundings(writer, { ...series, synthetic: false }, PRODUCTS)
    names.push({ product, ...found })
  }
  const catalogue = { countries, crops, names }
  return { database, catalogue, vocabulary: await readVocabulary(catalogue, words) }
}

export interface ConditionsDraft {
  question: Guess
  titles: Record<string, Guess>
  default: Guess | undefined
}

/** A release as its manifest says it. */
export interface ManifestDraft extends DraftRelease {
  /** Of the file: `yield-eth-wheat-2026-07`. */
  name: string
  layers: CheckedLayer[]
  source: Guess | undefined
  licence: Guess | undefined
  isSynthetic: boolean
  /** Checks that may find errors. */
  allow: Guess | undefined
  conditions: ConditionsDraft | undefined
  published: Published | undefined
  questions: Question[]
}

export interface Draft {
  manifests: ManifestDraft[]
  /** In the order in which they are asked, once each. */
  questions: Question[]
  leftOut: { file: string; reason: string }[]
}

/** Answers to what is asked of all releases. */
export function readGiven(given: { source?: string; licence?: string }): Map<string, string> {
  const { source, licence } = given
  return new Map(Object.entries({ source, licence }).flatMap(([id, text]) => (text ? [[id, text]] : [])))
}

/** Drafts all manifests of a folder; answers of before count. */
export async function makeDraft(drop: Drop, context: Context, answers: Answers): Promise<Draft> {
  const sorted = sortBands(drop, context.catalogue, context.vocabulary, answers)
  const manifests: ManifestDraft[] = []
  const leftOut = [...drop.leftOut, ...sorted.leftOut]
  const asked = { questions: sorted.questions, texts: listTexts(drop) }
  for (const release of sorted.releases) {
    const { surroundings, published } = await lookAround(release, context)
    const adjacent = await joinAdjacent(release, drop, context, answers)
    const unlike = await findUnlike(release, drop, context)
    const checked = checkRelease(release, { surroundings, published, answers, adjacent, unlike })
    leftOut.push(...checked.leftOut)
    if (checked.layers.length > 0)
      manifests.push(finish(release, checked, published, asked, context, answers))
  }
  const all = [...sorted.questions, ...manifests.flatMap(({ questions }) => questions)]
  return { manifests, questions: [...new Map(all.map((one) => [one.id, one])).values()], leftOut }
}

/**
 * Files of one layer that lie side by side become one, where a number alone distinguishes their names, or where a person
 * says so.
 *
 * @returns the ids of questions about others
 */
async function joinAdjacent(
  release: DraftRelease,
  drop: Drop,
  { database }: Context,
  answers: Answers,
): Promise<Set<string>> {
  const adjacent = new Set<string>()
  const layers: DraftLayer[] = []
  for (const twins of groupBy(release.layers, keyOf)) {
    const [first, ...others] = twins as [DraftLayer, ...DraftLayer[]]
    const id = twiceId(twins)
    const tiles = twins.map(({ band }) => band)
    const band = lacksLabels(first, release.product) ? undefined : await joinTiles(database, drop, tiles)
    const names = tiles.map(({ file }) =>
      partsOf(file)
        .filter((part) => !TILE_NUMBER.test(part))
        .join(' '),
    )
    const isSure = new Set(names).size === 1 || answers.get(id) === TILES
    if (band && isSure) layers.push({ ...first, band })
    else {
      layers.push(first, ...others)
      if (band) adjacent.add(id)
    }
  }
  release.layers = layers
  return adjacent
}

/** A layer that restates the likeliest season has a value of one of the seasons at most pixels. */
const LEAST_ALIKE = 0.5

/** Layers of the likeliest season whose values are none of the seasons', with the share that is one. */
async function findUnlike(
  { layers }: DraftRelease,
  drop: Drop,
  { database }: Context,
): Promise<Map<DraftLayer, number>> {
  const unlike = new Map<DraftLayer, number>()
  for (const sisters of groupBy(layers, sisterKey)) {
    const named = (scenario: string) =>
      sisters.filter(({ band, members }) => band.measured && members.scenario?.value === scenario)
    const seasons = SEASONS.flatMap((scenario) => named(scenario).slice(0, 1))
    for (const layer of RESTATING_SCENARIOS.flatMap(named)) {
      const onGrid = seasons.filter(({ band }) => sameGrid(gridOf(band), gridOf(layer.band)))
      if (layer.members.role || onGrid.length < SEASONS.length) continue
      const share = await matchValues(
        database,
        drop,
        layer.band,
        onGrid.map(({ band }) => band),
      )
      if (share < LEAST_ALIKE) unlike.set(layer, share)
    }
  }
  return unlike
}

const gridOf = ({ measured }: Band) => (measured as Measured).grid

/** `2`, `r1`, `tile3`; what names a month is the same in all. */
const TILE_NUMBER = /^[a-z]{0,4}\d+$/

/** Nothing for a series that the database does not have. */
async function lookAround({ head, product }: DraftRelease, { database: { writer }, catalogue }: Context) {
  const country = catalogue.countries.find(({ code }) => code === head.country?.value)
  if (!product || !country) return { surroundings: undefined, published: undefined }
  const cropCode = product.seasonal ? (head.crop?.value ?? null) : null
  const series = { product: product.code, countryCode: country.code, cropCode, forecastPeriod: null }
  const surroundings: Surroundings = await findSurroundings(writer, { ...series, synthetic: false }, PRODUCTS)
  const releases = (await listReleases(writer)).filter(
    (one) =>
      one.publishedAt &&
      one.product === product.code &&
      one.countryCode === country.code &&
      one.cropCode === cropCode,
  )
  // Demo data are no measure.
  const [newest] = releases
    .filter(({ synthetic }) => !synthetic)
    .toSorted((a, b) => ((a.forecastPeriod ?? '') > (b.forecastPeriod ?? '') ? -1 : 1))
  const published = newest && {
    ...{ code: newest.code, source: newest.source, licence: newest.licence },
    layers: await listLayers(writer, newest.id),
  }
  return { surroundings, published }
}

type Found = Published & { source?: string; licence?: string }

function finish(
  release: DraftRelease,
  { layers, questions: asked }: Checked,
  published: Found | undefined,
  { questions: before, texts }: { questions: readonly Question[]; texts: readonly string[] },
  { vocabulary, catalogue }: Context,
  answers: Answers,
): ManifestDraft {
  const questions = [...asked]
  const origin = (member: 'source' | 'licence', names: RegExp): Guess | undefined => {
    const stated = [answers.get(member) ?? vocabulary[member]].flatMap((value) => value ?? [])
    const noted = layers.flatMap(({ band }) =>
      Object.entries(band.notes).flatMap(([name, text]) => (names.test(name) && text ? [text] : [])),
    )
    const found = [...new Set(stated.length > 0 ? stated : noted)]
    const [value] = found
    if (value !== undefined && found.length === 1) {
      return { value, from: stated.length > 0 ? 'as given' : 'in the metadata of the files' }
    }
    const candidates = [...new Set([...found, ...(published?.[member] ? [published[member]] : [])])]
    const read = texts.length > 0 ? ` (see ${texts.join(', ')})` : ''
    const text =
      found.length > 1
        ? 'the files name several: which is right?'
        : `no metadata of a file name it${read}: what does the catalog say?`
    questions.push({ id: member, member, text, candidates, bands: [], isOpen: true })
    return undefined
  }
  const source = origin('source', /^(?:source|institution|TIFFTAG_ARTIST)$/i)
  const licence = origin('licence', /^(?:licen[cs]e|rights|TIFFTAG_COPYRIGHT)$/i)
  const isSynthetic = layers.every(({ band: { notes } }) => /^(?:true|yes|1)$/i.test(notes.synthetic ?? ''))
  const made: ManifestDraft = {
    ...release,
    ...{ name: nameRelease(release), layers, source, licence, isSynthetic, published },
    allow: askPart(release, layers, catalogue, answers, questions),
    conditions: describeConditions(layers, answers, questions),
    questions,
  }
  askCrop(made, catalogue, answers)
  const bands = layers.flatMap(({ band }) => [band, ...listTiles(band)])
  // Those of its bands that were asked before it was a release.
  made.questions = [
    ...before.filter((one) => one.bands.some((band) => bands.includes(band))),
    ...made.questions,
  ]
  return made
}

/** A small part of a country is meant, or the grid is of another one: a check refuses it. */
function askPart(
  { head: { country } }: DraftRelease,
  layers: readonly CheckedLayer[],
  { countries }: Catalogue,
  answers: Answers,
  questions: Question[],
): Guess | undefined {
  const found = countries.find(({ code }) => code === country?.value)
  const parts = layers.flatMap(({ band }) => {
    if (!band.measured || !found?.extent) return []
    const { inside, covered } = fitExtent(band.measured.extent, found.extent)
    return inside > 0 && covered < COVERED ? [{ band, covered }] : []
  })
  const [first] = parts
  if (!found || !first) return undefined
  const id = `part ${first.band.file}`
  const answer = answers.get(id)
  if (answer) return answered(answer)
  const bands = parts.map(({ band }) => band)
  const text = `${nameBands(bands)} ${bands.length === 1 ? 'covers' : 'cover'} ${percentText(first.covered)} of the extent of ${found.name}: is a part of the country meant? Then allow: ${ALLOW_EXTENT}.`
  const candidates = [ALLOW_EXTENT]
  questions.push({ id, member: 'allow', text, candidates, bands, isOpen: false, isYesNo: true })
  return { value: ALLOW_EXTENT, from: 'where the question above is answered so' }
}

const ALLOW_EXTENT = '[extent]'

function nameRelease({ head: { product, country, crop, month }, product: definition }: DraftRelease): string {
  const parts = definition && !definition.seasonal ? [product, country] : [product, country, crop, month]
  return parts.map((part) => part?.value.replaceAll(/[^\w-]/g, '_') ?? 'unknown').join('-')
}

/** One condition for all layers is none. */
function describeConditions(
  layers: readonly CheckedLayer[],
  answers: Answers,
  questions: Question[],
): ConditionsDraft | undefined {
  const own = layers.filter(({ members }) => members.role?.value !== 'probability')
  const found = [...new Set(own.flatMap(({ members }) => members.condition?.value ?? []))]
  const lacking = own.filter(({ members }) => !members.condition)
  if (found.length < 2 && (found.length === 0 || lacking.length === 0)) {
    for (const { members } of layers) delete members.condition
    return undefined
  }
  for (const layer of lacking) {
    const id = `condition of ${nameBand(layer.band)}`
    const answer = answers.get(id)
    if (answer) layer.members.condition = answered(answer)
    else {
      const text = `${nameBand(layer.band)} names none, and other files are for ${found.join(', ')}: for which is it?`
      questions.push({ id, member: 'condition', text, candidates: found, bands: [layer.band], isOpen: true })
    }
  }
  const conditions = own.flatMap(({ members }) => members.condition ?? [])
  const [asks, ...others] = new Set(conditions.flatMap(({ meaning }) => meaning?.question ?? []))
  const titles = Object.fromEntries(
    conditions.map(({ value, from, meaning }) => [value, { value: meaning?.title ?? value, from }]),
  )
  const id = `default of ${found.join(', ')}`
  const answer = answers.get(id)
  if (!answer) {
    const read = Object.entries(titles).map(([name, { from }]) => `${name} (${from})`)
    const text = `of the conditions ${read.join(', ')}, which one answers a call that names none?`
    questions.push({ id, member: 'default', text, candidates: Object.keys(titles), bands: [], isOpen: false })
  }
  return {
    question:
      asks !== undefined && others.length === 0
        ? { value: asks, from: 'of these conditions in the table of words' }
        : { value: 'Which kind of field is it?', from: 'no one question of the table of words fits all' },
    titles,
    default: answer ? answered(answer) : undefined,
  }
}

/** A crop that the country does not offer has no place yet. */
function askCrop(
  { head, layers, questions }: ManifestDraft,
  { countries }: Catalogue,
  answers: Answers,
): void {
  const country = countries.find(({ code }) => code === head.country?.value)
  const { crop } = head
  if (!country || !crop || country.crops.includes(crop.value) || crop.from === 'answered') return
  const id = `crop ${crop.value} of ${country.code}`
  const answer = answers.get(id)
  if (answer) head.crop = answered(answer)
  else {
    const bands = layers.map(({ band }) => band)
    const text = `${country.name} does not offer ${crop.value} (${crop.from}; ${nameBands(bands)}): offer it first (\`agro crops offer ${country.code} ${crop.value}\`), or choose another`
    questions.push({ id, member: 'crop', text, candidates: country.crops, bands, isOpen: true })
  }
}
