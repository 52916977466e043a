import { expect } from 'vitest'
import { runAgro } from '#test/setup/cli.ts'
import type { TestDatabase } from '#test/setup/database.ts'

interface Guess {
  value: string
  from: string
}
interface DraftedLayer
  extends Partial<Record<'input' | 'scenario' | 'condition' | 'scale' | 'nodata', Guess>> {
  file: string
  band: number
}

export interface Drafted {
  manifests: {
    manifest: string
    product?: Guess
    country_code?: Guess
    layers: DraftedLayer[]
  }[]
  questions: {
    member: string
    text: string
    candidates: string[]
    files: string[]
    places: { manifest: string; line: number }[]
  }[]
  left_out: { file: string; reason: string }[]
}

/** What files say of all releases, and the same for `agro draft`. */
export const NOTES = { source: 'A test', licence: 'CC0-1.0' }
export const GIVEN = ['--source', NOTES.source, '--licence', NOTES.licence]

/** Drafts a folder, and answers in JSON. */
export async function draftFolder(
  testDatabase: Pick<TestDatabase, 'environment'>,
  folder: string,
  ...options: string[]
): Promise<{ code: number | null; drafted: Drafted }> {
  const { code, stdout, stderr } = await runAgro(testDatabase, 'draft', folder, '--json', ...options)
  expect(stdout, stderr).not.toBe('')
  return { code, drafted: JSON.parse(stdout) }
}
