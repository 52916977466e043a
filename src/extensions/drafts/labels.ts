import { basename, dirname } from 'node:path'
import type { Band, Drop } from './bands.ts'
import { type NameReading, type Reading, readName, Sisters } from './names.ts'
import type { Kind, Meaning, Vocabulary } from './vocabulary.ts'

/** What is read of a member of a layer or of its release. */
export interface Guess {
  value: string
  /** For a comment: what it was read from. */
  from: string
  meaning?: Meaning | undefined
}

/** A word that no meaning is certain of. */
export interface OpenWord {
  word: string
  kind: Kind | undefined
  /** How it stands there, and the question, behind the word in a sentence. */
  why: string
  options: readonly { kind: Kind; means: string; of?: string | undefined }[]
  /** Not of a table: it counts where it distinguishes files. */
  isUnknown: boolean
}

export interface LabelledBand {
  band: Band
  labels: Partial<Record<Kind, Guess>>
  /** Several certain meanings of one kind. */
  conflicts: { kind: Kind; labels: readonly Guess[] }[]
  open: readonly OpenWord[]
}

/** A text about a band, and its sisters. */
interface Text {
  where: string
  read: NameReading
  sisters: Sisters
  /** What a folder says counts where nothing nearer says it. */
  isFolder: boolean
  /** Prose has more words than names have. */
  isProse?: true
}

/** Members of metadata that say what a name may say. */
const TELLING =
  /^(?:scenario|tercile|input|fertili[sz]er|crop|country|country_?code|product|variable|long_name|standard_name|month|forecast_period|season|condition|role|percentile|quantile)$/i

const RASTER_ENDING = /(?:\.(?:tiff?|nc4?|asc|h5|img|zarr|gz|zip))+$/i

/** Reads what names, bands and metadata of a folder say of each band. */
export function labelBands({ bands }: Drop, vocabulary: Vocabulary): LabelledBand[] {
  const reads = new Map<string, NameReading>()
  const read = (text: string) => {
    const found = reads.get(text) ?? readName(text, vocabulary)
    reads.set(text, found)
    return found
  }
  const nameOf = ({ file }: Band) => basename(file).replace(RASTER_ENDING, '')
  const foldersOf = ({ file }: Band) =>
    dirname(file)
      .split('/')
      .filter((part) => part !== '.')
      .reverse()
  const ofNames = new Sisters(bands.map((band) => read(nameOf(band))))
  const ofFolders = new Sisters(bands.flatMap(foldersOf).map((folder) => read(folder)))
  return bands.map((band) => {
    const described = bands
      .filter(({ file }) => file === band.file)
      .map(({ description = '' }) => read(description))
    const own = { sisters: ofNames, isFolder: false }
    const outer = { where: 'in the name of the folder', sisters: ofFolders, isFolder: true }
    const notes = Object.entries(band.notes).filter(([name]) => TELLING.test(name))
    const texts: Text[] = [
      {
        ...{ where: 'in the name of the band', read: read(band.description ?? '') },
        ...{ sisters: new Sisters(described), isFolder: false },
      },
      ...notes.map(([name, text]): Text => {
        return { ...own, where: `in its metadata (${name})`, read: read(text), isProse: true }
      }),
      { ...own, where: 'in the name', read: read(nameOf(band)) },
      ...foldersOf(band).map((folder) => ({ ...outer, read: read(folder.replace(/\.zip$/i, '')) })),
      // A folder of a month within that of its year.
      {
        ...{ ...outer, where: 'in the names of the folders' },
        read: monthIn(read(foldersOf(band).toReversed().join(' '))),
      },
    ]
    return labelBand(band, texts, vocabulary)
  })
}

function monthIn(name: NameReading): NameReading {
  return {
    ...name,
    readings: name.readings.filter(({ kind, sure }) => kind === 'month' && sure),
    unknown: [],
  }
}

/** What a name says once. */
const CONTRADICTED: readonly Kind[] = ['input', 'scenario']

function labelBand(band: Band, texts: readonly Text[], vocabulary: Vocabulary): LabelledBand {
  const found = new Map<Kind, { label: Guess; isFolder: boolean }[]>()
  const unsure: { reading: Reading; where: string }[] = []
  for (const text of texts) {
    for (const reading of text.read.readings) {
      const meaning = reading.sure ? reading.options[0] : text.sisters.settle(text.read, reading)
      if (!meaning) unsure.push({ reading, where: text.where })
      if (!meaning || meaning.kind === 'nothing') continue
      const as = reading.sure ? '' : ', as other files have another word there'
      const label = { value: meaning.means, from: `"${reading.text}" ${text.where}${as}`, meaning }
      found.set(meaning.kind, [...(found.get(meaning.kind) ?? []), { label, isFolder: text.isFolder }])
    }
  }
  const labels: LabelledBand['labels'] = {}
  const conflicts: LabelledBand['conflicts'] = []
  for (const [kind, all] of found) {
    const own = all.filter(({ isFolder }) => !isFolder)
    // The nearest folder.
    const counting = own.length > 0 ? own : all.slice(0, 1)
    const distinct = [...new Map(counting.map(({ label }) => [label.value, label])).values()]
    const [first] = distinct
    if (distinct.length === 1 && first) labels[kind] = first
    else conflicts.push({ kind, labels: distinct })
  }
  if (band.unit) {
    const meaning = vocabulary.findOf('unit', band.unit)
    if (meaning) labels.unit = { value: meaning.means, from: `the unit "${band.unit}" of the band`, meaning }
  }
  readOdds(band, labels, unsure)
  // Beside a certain word one more may say another thing.
  const isSaid = ({ kind, means }: Meaning) =>
    conflicts.some((one) => one.kind === kind) ||
    (kind === 'product' && labels.input?.meaning?.of === means) ||
    (labels[kind] !== undefined && (labels[kind].value === means || !CONTRADICTED.includes(kind)))
  const open = [
    ...unsure
      .filter(({ reading }) => !reading.options.some(isSaid))
      .map(({ reading: { text, kind, options }, where }): OpenWord => {
        return {
          word: text,
          kind,
          why: `${where} ${kind === 'month' ? 'may be the day of the file: is it the month' : options.length > 1 ? 'has several meanings: which one' : `may mean other things: is it ${options[0]?.means}`}?`,
          options,
          isUnknown: false,
        }
      }),
    ...texts
      .filter(({ isFolder, isProse }) => !isFolder && !isProse)
      .flatMap(({ read, where }) => read.unknown.flatMap((words) => listUnknown(words, where, vocabulary))),
  ]
  return { band, labels, conflicts, open }
}

/** Each word that is nearly a known one, or else all of them together. */
function listUnknown(words: string, where: string, vocabulary: Vocabulary): OpenWord[] {
  const near = words.split(' ').flatMap((word): OpenWord[] => {
    const found = vocabulary.near(word)
    if (!found) return []
    const { kind, means, of } = found.meaning
    const why = `${where} is nearly "${found.word}": does it mean that?`
    return [{ word, kind, why, options: [{ kind, means, of }], isUnknown: false }]
  })
  if (near.length > 0) return near
  const why = `${where} is not known: what does it mean?`
  return [{ word: words, kind: undefined, why, options: [], isUnknown: true }]
}

const PERCENT = 100

/** Values show whether a layer of `prob` has odds: those of advice go beyond 100, and odds as shares do not beyond 1. */
function readOdds(
  { measured }: Band,
  labels: LabelledBand['labels'],
  unsure: { reading: Reading; where: string }[],
): void {
  const at = unsure.findIndex(({ reading }) => reading.options[0]?.means === 'probability')
  const most = measured?.statistics.maximum ?? null
  if (at < 0 || most === null || (most > 1 && most <= PERCENT)) return
  const [{ reading, where }] = unsure.splice(at, 1) as [(typeof unsure)[number]]
  if (most > PERCENT) return
  const from = `"${reading.text}" ${where}, and values from 0 to 1`
  labels.role = { value: 'probability', from, meaning: reading.options[0] }
}
