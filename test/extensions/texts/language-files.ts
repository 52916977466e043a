import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse, stringify } from 'yaml'

const ENGLISH = readFileSync('src/extensions/texts/en.yaml', 'utf8')

export interface LanguageContent {
  language: string
  name: string
  checked_by?: string
  checked_on?: string
  texts: Record<string, unknown> & { products: Record<string, string>; odds: Record<string, string> }
}

/** A language of a test, in letters of English: each line stands between marks. */
export function madeUpLanguage(language: string): LanguageContent {
  const { texts } = parse(ENGLISH) as LanguageContent
  const mark = (value: unknown): unknown => {
    if (typeof value === 'string') return `<${value}>`
    if (Array.isArray(value)) return value.map(mark)
    return Object.fromEntries(Object.entries(value as object).map(([key, member]) => [key, mark(member)]))
  }
  return {
    language,
    name: 'Made up',
    checked_by: 'a test',
    checked_on: '2026-11-28',
    texts: {
      ...(mark(texts) as LanguageContent['texts']),
      products: { yield: 'harvest', fertilizer: 'salts', isfm: 'dung', forage: 'grass' },
    },
  }
}

/** A folder with English and further languages. @returns its address, and what removes it */
export function folderOf(files: Record<string, object | string>): { url: URL; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'texts-'))
  writeFileSync(join(folder, 'en.yaml'), ENGLISH)
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : stringify(content))
  }
  return { url: pathToFileURL(`${folder}/`), remove: () => rmSync(folder, { recursive: true }) }
}
