import { stat, writeFile } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
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
} from '#src/cli/terminal.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { readDrop, tilesOf } from './bands.ts'
import { askAll } from './dialogue.ts'
import { type Draft, type ManifestDraft, makeDraft, openContext } from './draft.ts'
import { countText, listSaid, manifestName, refuseEmpty } from './folder.ts'
import type { Guess } from './labels.ts'
import { type WrittenManifest, writeManifest } from './write.ts'

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
names. A terminal asks what is uncertain; without one, and with --json, it stands in the manifest as a line \`# ?\`, which
\`agro ingest\` refuses. Exit codes: 0 nothing is uncertain, 3 there are questions.`,
  examples: [
    'agro draft season-2026-07',
    'agro draft season-2026-07 --out wheat.yaml --words words.yaml',
    'agro draft season-2026-07 --json',
  ],
  run: (options: DraftOptions, given: string) =>
    lookInDatabase(async (database, config) => {
      const folder = pathNamed(given)
      const words = options.words === undefined ? config.DRAFT_WORDS : pathNamed(options.words)
      const context = await openContext(database, words, options)
      const drop = await readDrop(database, folder, progressIfLong('reading'))
      const first = await makeDraft(drop, context, new Map())
      refuseEmpty(folder, first)
      const target = options.out === undefined ? join(folder, 'manifest.yaml') : pathNamed(options.out)
      const isAsking = isInteractive() && !options.json
      for (const manifest of first.manifests)
        await refuseThere(nameTarget(target, manifest, first.manifests.length), options)
      const { draft } = isAsking ? await askAll(drop, context, report) : { draft: first }
      const written = draft.manifests.map((manifest): NamedManifest => {
        const path = nameTarget(target, manifest, draft.manifests.length)
        return { manifest, path, ...writeManifest(manifest, path) }
      })
      for (const one of written) await write(one, options)
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
function nameTarget(target: string, manifest: ManifestDraft, count: number): string {
  if (count === 1) return target
  const ending = extname(target)
  const release = manifestName(manifest, count)
    .replace(/^manifest/, '')
    .replace(/\.yaml$/, '')
  return resolve(`${target.slice(0, target.length - ending.length)}${release}${ending}`)
}

/** Before a person answers questions for nothing. */
async function refuseThere(path: string, { force = false }: DraftOptions): Promise<void> {
  if (!force && (await stat(path).catch(() => undefined))) refuseOverwriting(path)
}

function refuseOverwriting(path: string): never {
  const sentence = `${path} is there already: --force writes over it, --out names another.`
  throw new OperatorError(sentence, { code: 'ALREADY_THERE' })
}

async function write({ path, text }: NamedManifest, { force = false }: DraftOptions): Promise<void> {
  await writeFile(path, text, { flag: force ? 'w' : 'wx' }).catch((error) => {
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
  const placed = questions.map(({ id, member, text, candidates, bands }) => {
    const places = written.flatMap(({ path, lines }) =>
      (lines.get(id) ?? []).map((line) => ({ manifest: path, line })),
    )
    return {
      member,
      text,
      candidates,
      files: [...new Set(bands.flatMap(tilesOf).map(({ file }) => file))],
      places,
    }
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
      layers: layers.map(({ band, members, unit, scale, nodata }) => ({
        ...{ file: tilesOf(band)[0]?.file, files: band.tiles?.map(({ file }) => file), band: band.number },
        ...guesses({ ...members, unit, scale, nodata }),
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
      : `${names}: nothing is uncertain. \`agro ingest\` publishes it.`
  return [value, [...listSaid(draft), ...asked, end].join('\n')]
}
