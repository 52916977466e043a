import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { command } from '#src/cli/command.ts'
import { formatTable } from '#src/cli/table.ts'
import { type Output, pathNamed, refuse } from '#src/cli/terminal.ts'
import { OperatorError } from '#src/errors.ts'
import { digestFile } from '#src/ingest/geotiff/source.ts'
import { refuseUnreadable } from '#src/ingest/other-formats.ts'
import type { ReleaseFile } from './schemas.ts'
import { findStatement } from './statement-queries.ts'

type Digest = Pick<ReleaseFile, 'name' | 'sha256' | 'bytes'>

interface Verdict extends Digest {
  state: 'same' | 'differs' | 'not of the release' | 'missing'
}

/**
 * Compares files with those of a release, by their bytes: a renamed file is the same. A file that has another of the same
 * name in the release differs from it.
 */
export function compareFiles(files: ReleaseFile[], given: Digest[]): Verdict[] {
  const verdicts = given.map((file): Verdict => {
    if (files.some(({ sha256 }) => sha256 === file.sha256)) return { ...file, state: 'same' }
    // Of an address, its last part.
    const differs = files.some(({ name }) => basename(name) === file.name)
    return { ...file, state: differs ? 'differs' : 'not of the release' }
  })
  const missing = files.flatMap(({ name, sha256, bytes }): Verdict[] => {
    const isThere = (one: Verdict) =>
      one.sha256 === sha256 || (one.state === 'differs' && one.name === basename(name))
    return verdicts.some(isThere) ? [] : [{ name, sha256, bytes, state: 'missing' }]
  })
  return [...verdicts, ...missing]
}

async function digestNamed(file: string): Promise<Digest> {
  const path = pathNamed(file)
  const found = await stat(path).catch((error) => refuseUnreadable(file, error))
  if (found.isDirectory() && !/\.zarr$/i.test(path))
    throw new OperatorError(`${file} is a folder: name the files in it.`)
  if (!found.isFile() && !found.isDirectory()) throw new OperatorError(`${file} is not a file.`)
  return { name: basename(path), ...(await digestFile(path).catch((error) => refuseUnreadable(file, error))) }
}

export const verifyCommand = command({
  usage: 'verify <release> <file...>',
  description: 'Compare files with those that a release was loaded from, by their SHA-256.',
  parameters: ['its code', 'all files of the release: GeoTIFFs, or the archives that they were in'],
  examples: ['agro releases verify yield-eth-wheat-2026-08-v2 /archive/wheat-2026-08/*.tif'],
  async look({ reader }, options: Output, code: string, paths: string[]) {
    const statement = await findStatement(reader, code, true)
    if (statement === undefined) {
      const none = `There is no release ${code}; \`agro releases list\` shows them.`
      throw new OperatorError(none, { code: 'NOT_FOUND' })
    }
    if (statement === null) {
      throw new OperatorError(
        `${code} was loaded by an older version, which kept no hashes of files: \`agro ingest --force\` loads them again, as another release.`,
      )
    }
    const { files } = JSON.parse(statement) as { files: ReleaseFile[] }
    const given: Digest[] = []
    for (const path of paths) given.push(await digestNamed(path))
    const verdicts = compareFiles(files, given)
    const said = { release: code, files: verdicts }
    const table = formatTable(
      ['FILE', 'IS', 'SHA-256'],
      verdicts.map(({ name, state, sha256 }) => [name, state, sha256]),
    )
    const others = verdicts.filter(({ state }) => state !== 'same')
    if (others.length === 0) return [said, `${table}\nThese are the files of ${code}.`]
    const sentence = `These are not the files of ${code}: ${others.map(({ name, state }) => `${name} ${state === 'differs' ? state : `is ${state}`}`).join(', ')}.`
    return refuse(options, said, new OperatorError(sentence), table)
  },
})
