import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { PRODUCTS } from '#schemas/products/index.ts'
import { type CommandAnswer, command, lookInDatabase } from '#src/cli/command.ts'
import { printable } from '#src/cli/table.ts'
import {
  ExitWith,
  isInteractive,
  type Output,
  pathNamed,
  print,
  progressIfLong,
  report,
  undoneByInterrupt,
} from '#src/cli/terminal.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { listTexts, listTiles, readDrop } from './bands.ts'
import { askAll } from './dialogue.ts'
import { type Draft, type ManifestDraft, makeDraft, openContext, readGiven } from './draft.ts'
import { countText, listSaid, refuseEmpty } from './folder.ts'
import type { Guess } from './labels.ts'
import { type Answers, describeQuestion } from './questions.ts'
import { DRAFTED, readAnswers, type WrittenManifest, writeManifest } from './write.ts'

interface DraftOptions extends Output {
  out?: string
  words?: string
  source?: string
  licence?: string
  force?: boolean
}

/** Manifests are written, and wait for answers. */
const HAS_QUESTIONS = 3

export const draftCommand = command({
  usage: 'draft <folder>',
  description: 'Write the manifests of a folder of rasters, from names, bands, metadata and values.',
  parameters: ['with rasters, also in folders and zip archives'],
  options: [
    ['--out <file>', 'the manifest to write; FOLDER/manifest.yaml when left out'],
    ['--words <file>', 'words of your own, in the form of src/extensions/drafts/words.yaml'],
    ['--source <text>', 'the source of the data, for the catalog'],
    ['--licence <text>', 'their licence, for the catalog'],
    ['--force', 'write over manifests that are there'],
  ],
  help: `
A folder of several releases has a manifest for each, such as manifest-yield-eth-wheat-2026-07.yaml beside what --out
names. A terminal asks what is uncertain. Without one, with --json, and after the answer "later", a question stands in the
manifest as a line \`# ?\`. \`agro ingest\` refuses such a manifest. At a terminal the same command goes on with it, also
after Ctrl-C. Exit codes: 0 nothing is uncertain, 3 there are questions.`,
  examples: [
    'agro draft season-2026-07',
    'agro draft season-2026-07 --out wheat.yaml --words words.yaml',
    'agro draft season-2026-07 --json',
  ],
  run: (options: DraftOptions, given: string) =>
    lookInDatabase(async (database, config) => {
      const folder = pathNamed(given)
      const target = options.out === undefined ? join(folder, 'manifest.yaml') : pathNamed(options.out)
      const isAsking = isInteractive() && !options.json
      const begun = await readBegun(target, isAsking, options)
      const words = options.words === undefined ? config.DRAFT_WORDS : pathNamed(options.words)
      const context = await openContext(database, words)
      const drop = await readDrop(database, folder, progressIfLong('reading'))
      const kept = new Map([...begun.values()].flatMap((text) => readAnswers(text) ?? []))
      const name = (draft: Draft, answers: Answers) => nameManifests(target, draft, answers)
      for (const one of name(await makeDraft(drop, context, kept), kept))
        await refuseChanged(one, begun, options)
      const answers = new Map([...kept, ...readGiven(options)])
      const first = await makeDraft(drop, context, answers)
      refuseEmpty(folder, first)
      if (isAsking)
        for (const file of listTexts(drop))
          report(`Read ${printable(file)} first: it may answer some of what follows.`)
      const ask = (signal: AbortSignal) => askAll(drop, context, answers, report, signal)
      const draft = isAsking ? await undoneByInterrupt(ask, 'what is answered is written') : first
      const written = name(draft, answers)
      for (const one of written) await write(one, begun.has(one.path), options)
      print(options, ...describe(draft, written))
      if (draft.questions.length > 0) throw new ExitWith(HAS_QUESTIONS)
      return undefined
    }),
})

interface NamedManifest extends WrittenManifest {
  manifest: ManifestDraft
  path: string
}

/** Several stand beside the named one. */
function nameManifests(target: string, { manifests }: Draft, answers: Answers): NamedManifest[] {
  const ending = extname(target)
  const stem = target.slice(0, target.length - ending.length)
  return manifests.map((manifest) => {
    const path = manifests.length === 1 ? target : resolve(`${stem}-${manifest.name}${ending}`)
    return { manifest, path, ...writeManifest(manifest, path, answers) }
  })
}

/**
 * Manifests that are there before anything is read, by their paths: at a terminal, drafts of which one has questions are
 * gone on with.
 *
 * @throws {OperatorError} for others
 */
async function readBegun(
  target: string,
  isAsking: boolean,
  { force = false }: DraftOptions,
): Promise<Map<string, string>> {
  const begun = new Map<string, string>()
  if (force) return begun
  const [folder, ending] = [dirname(target), extname(target)]
  const stem = basename(target, ending)
  const isOurs = (name: string) =>
    name === basename(target) ||
    PRODUCTS.list.some(({ code }) => name.startsWith(`${stem}-${code}-`) && name.endsWith(ending))
  for (const name of (await readdir(folder).catch(() => [])).filter(isOurs)) {
    const path = name === basename(target) ? target : resolve(folder, name)
    begun.set(path, await readFile(path, 'utf8').catch(() => ''))
  }
  const texts = [...begun.values()]
  const other =
    [...begun.keys()].find((path) => !begun.get(path)?.startsWith(DRAFTED)) ?? [...begun.keys()][0]
  const isBegun = texts.some(readAnswers) && texts.every((text) => text.startsWith(DRAFTED))
  if (other !== undefined && !(isAsking && isBegun)) refuseOverwriting(other)
  return begun
}

/** Before a person answers questions for nothing. */
async function refuseChanged(
  { path, text }: NamedManifest,
  begun: ReadonlyMap<string, string>,
  { force = false }: DraftOptions,
): Promise<void> {
  const before = begun.get(path)
  if (before !== undefined && before !== text) {
    const sentence = `${path} or its folder was changed since it was drafted: --force asks anew and writes over it.`
    throw new OperatorError(sentence, { code: 'ALREADY_THERE' })
  }
  if (before === undefined && !force && (await stat(path).catch(() => undefined))) refuseOverwriting(path)
}

function refuseOverwriting(path: string): never {
  const sentence = `${path} is there already: --force writes over it, --out names another.`
  throw new OperatorError(sentence, { code: 'ALREADY_THERE' })
}

async function write({ path, text }: NamedManifest, isBegun: boolean, { force = false }: DraftOptions) {
  await writeFile(path, text, { flag: force || isBegun ? 'w' : 'wx' }).catch((error) => {
    if (readErrorCode(error) === 'EEXIST') refuseOverwriting(path)
    throw new OperatorError(`${path} cannot be written: ${formatError(error)}.`)
  })
}

/** Values with what they were read from. */
function guesses(named: Record<string, Guess | undefined>): Record<string, Pick<Guess, 'value' | 'from'>> {
  const known = Object.entries(named).flatMap(([name, guess]) => (guess ? [[name, guess] as const] : []))
  return Object.fromEntries(known.map(([name, { value, from }]) => [name, { value, from }]))
}

function describe(draft: Draft, written: readonly NamedManifest[]): CommandAnswer {
  const { questions, leftOut } = draft
  const placed = questions.map((question) => {
    const places = written.flatMap(({ path, lines }) =>
      (lines.get(question.id) ?? []).map((line) => ({ manifest: path, line })),
    )
    return { ...describeQuestion(question), places }
  })
  const value = {
    manifests: written.map(({ path, manifest: { head, source, licence, layers } }) => ({
      manifest: path,
      ...guesses({
        product: head.product,
        country_code: head.country,
        crop: head.crop,
        forecast_period: head.month,
      }),
      ...guesses({ source, licence }),
      layers: layers.map(({ band, members, unit, scale, nodata, note }) => ({
        ...{ file: listTiles(band)[0]?.file, files: band.tiles?.map(({ file }) => file), band: band.number },
        ...guesses({ ...members, unit, scale, nodata }),
        note,
      })),
    })),
    questions: placed,
    left_out: leftOut,
  }
  const asked = placed.map(({ member, text, places: [place] }) =>
    printable(`${place?.manifest}:${place?.line}: ${member}: ${text}`),
  )
  const names = written.map(({ path }) => path).join(', ')
  const end =
    questions.length > 0
      ? `${names}: ${countText(questions)} to answer before \`agro ingest\`.`
      : `${names}: nothing is uncertain. \`agro ingest\` with ${written.length === 1 ? 'it' : 'each'} publishes.`
  return [value, [...listSaid(draft), ...asked, end].join('\n')]
}
