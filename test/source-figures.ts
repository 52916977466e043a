import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/** Words that have a plainer one: see the rules in CONTRIBUTING.md. */
const BANNED =
  /\b(?:whoever|nobody|told|tells?|visit|in the place of|took the place|those who|what is|party|parties|desk|patience|crew|rehearsal|handover|bidFarewell)\b/gi

export interface SourceFigures {
  files: number
  lines: number
  exportedTypes: number
  /** Files that one file alone imports. */
  oneImporter: number
  /** Functions named by a result, `...Of`: the others are verbs. */
  ofFunctions: number
  bannedWords: number
}

function listSources(): string[] {
  return ['src', 'schemas'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  )
}

/** Counts the files of the core: of `src` without its extensions, and of `schemas`. */
export function sourceFigures(): SourceFigures {
  const files = listSources().filter((file) => !file.startsWith('src/extensions/'))
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'))
  const lengths = texts.map((text) => text.split('\n').length - 1).sort((a, b) => a - b)
  const count = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  return {
    files: files.length,
    lines: lengths.reduce((sum, length) => sum + length, 0),
    exportedTypes: count(/^export (?:type|interface) /gm),
    oneImporter: countOneImporter(files, texts),
    ofFunctions: count(/\bfunction \*?\w+Of\b/g),
    bannedWords: count(BANNED),
  }
}

function countOneImporter(files: string[], texts: string[]): number {
  const importers = new Map<string, Set<string>>()
  texts.forEach((text, index) => {
    const file = files[index] as string
    for (const [, specifier = ''] of text.matchAll(/(?:from |import\()'([.#][^']*)'/g)) {
      const target = specifier.startsWith('#')
        ? specifier.slice(1)
        : relative(ROOT, resolve(ROOT, dirname(file), specifier))
      importers.set(target, (importers.get(target) ?? new Set()).add(file))
    }
  })
  return files.filter((file) => importers.get(file)?.size === 1).length
}

/** Lines by room: folders of `src`, the files beside them, and `schemas`. */
export function linesOfRooms(): Record<string, number> {
  const lines: Record<string, number> = {}
  for (const file of listSources()) {
    const [top = '', room = ''] = file.split('/')
    const name = top === 'schemas' ? top : file.split('/').length > 2 ? `src/${room}` : 'src'
    lines[name] = (lines[name] ?? 0) + readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1
  }
  return lines
}
