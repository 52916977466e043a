import { join } from 'node:path'
import { printable } from '#src/cli/table.ts'
import { progressIfLong } from '#src/cli/terminal.ts'
import type { Database } from '#src/data/database.ts'
import { OperatorError } from '#src/errors.ts'
import { readDrop } from './bands.ts'
import { type Draft, type ManifestDraft, makeDraft, openContext, readGiven } from './draft.ts'
import { describeQuestion, nameBand, type Question } from './questions.ts'
import { labelsText } from './releases.ts'
import { writeManifest } from './write.ts'

/**
 * The manifests of a folder in which nothing is uncertain.
 *
 * @param given what a person says of all releases
 * @throws {OperatorError} with the questions
 */
export async function readFolder(
  database: Database,
  folder: string,
  given: { source?: string; licence?: string },
) {
  const context = await openContext(database, database.config.DRAFT_WORDS)
  const drop = await readDrop(database, folder, progressIfLong('reading'))
  const draft = await makeDraft(drop, context, readGiven(given))
  refuseEmpty(folder, draft)
  const { manifests, questions } = draft
  if (questions.length > 0) {
    const lines = questions.map(({ member, text }) => printable(`${member}: ${text}`))
    const step = `\`agro draft ${folder}\` asks them, and writes manifests.`
    const sentence = [...lines, `${folder} leaves ${countText(questions)}: ${step}`].join('\n')
    const refusal = new OperatorError(sentence, { code: 'QUESTIONS' })
    refusal.answer = {
      questions: questions.map((one) => ({ ...describeQuestion(one), places: [] })),
      left_out: draft.leftOut,
    }
    throw refusal
  }
  return {
    manifests: manifests.map((manifest) => {
      const path = join(folder, manifestName(manifest, manifests.length))
      return { path, text: writeManifest(manifest, path, new Map()).text }
    }),
    said: listSaid(draft),
  }
}

/** @throws {OperatorError} for a folder without a raster */
export function refuseEmpty(folder: string, { manifests, leftOut }: Draft): void {
  if (manifests.length > 0) return
  const files = leftOut.map(({ file, reason }) => `${file}: ${reason}`)
  throw new OperatorError([...files, `${folder} has no raster that can be read.`].join('\n'), {
    code: 'NOT_FOUND',
  })
}

export function countText(questions: readonly Question[]): string {
  return questions.length === 1 ? 'one question' : `${questions.length} questions`
}

/** One release has the plain name. */
export function manifestName({ name }: ManifestDraft, count: number): string {
  return count === 1 ? 'manifest.yaml' : `manifest-${name}.yaml`
}

/** What was read of each layer, and what is none. */
export function listSaid({ manifests, leftOut }: Draft): string[] {
  const lines = [
    ...manifests.flatMap(({ name, layers }) => [
      `${name}:`,
      ...layers.map(
        (layer) =>
          `  ${nameBand(layer.band)}: ${labelsText(layer) || 'not known'}${layer.note ? `; ${layer.note}` : ''}`,
      ),
    ]),
    ...leftOut.map(({ file, reason }) => `left out: ${file}: ${reason}`),
  ]
  return lines.map(printable)
}
