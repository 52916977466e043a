import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { joinParts, readScripts } from '#src/data/schema-state.ts'

export const RELEASED = resolve(import.meta.dirname, '../released')

/** What a released version never changes: checksums of its section of the CHANGELOG, and of its migrations by name. */
interface Release {
  changelog: string
  migrations: Record<string, string>
}

const FILE = join(RELEASED, 'releases.json')

/** By version. */
export const releases: Record<string, Release> = existsSync(FILE)
  ? JSON.parse(readFileSync(FILE, 'utf8'))
  : {}

/** The checksums as they are now, of the migrations that a version has had, or of all. */
export async function describeVersion(version: string, names?: string[]): Promise<Release> {
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const section = changelog.split(/^(?=## )/m).find((text) => text.startsWith(`## ${version} `)) ?? ''
  const scripts = await readScripts()
  const migrations = scripts
    .filter(({ kind, name }) => kind === 'migration' && (names?.includes(name) ?? true))
    .map(({ name, checksum }) => [name, checksum])
  for (const { name, checksum } of joinParts(scripts)) {
    if (names?.includes(name) ?? true) migrations.push([name, checksum])
  }
  return {
    changelog: createHash('sha256').update(section.trimEnd()).digest('hex'),
    migrations: Object.fromEntries(migrations),
  }
}

const BETWEEN = ';\n\n'

/** Statements without the indentation of their source. */
export function statementsText(statements: string[]): string {
  return statements.map((text) => `${text.trim().replaceAll(/^ +/gm, '')}${BETWEEN}`).join('')
}

/** The statements that a released version sends; undefined where none were recorded. */
export function readStatements(version: string): string[] | undefined {
  const file = join(RELEASED, `${version}.sql`)
  if (!existsSync(file)) return undefined
  return readFileSync(file, 'utf8').split(BETWEEN).filter(Boolean)
}
