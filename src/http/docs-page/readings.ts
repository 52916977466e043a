import { readFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import type { Reading } from './markdown.ts'

const DOCUMENTS = join(import.meta.dirname, '../../../docs')

/** The documents for integrators, by where they are below /docs: the guide and the first calls stand on the page itself. */
const READINGS = {
  '': 'guide/integrators.md',
  agents: 'guide/agents.md',
  calls: 'guide/calls.md',
  changelog: '../CHANGELOG.md',
  changes: 'guide/changes.md',
  citing: 'guide/citing.md',
  clients: 'guide/clients.md',
  gis: 'guide/gis.md',
  quantities: 'guide/quantities.md',
  rules: 'api.md',
  versions: 'versioning.md',
} as const

type ReadingPath = keyof typeof READINGS

/** Those that have a page of their own. */
export const READING_PATHS = (Object.keys(READINGS) as ReadingPath[]).filter(
  (path) => path !== '' && path !== 'calls',
)

/** Makes what reads each document once. */
export function rememberedReadings() {
  const readings = new Map<string, Promise<Reading>>()
  return (path: ReadingPath, folder: string): Promise<Reading> => {
    const address = `${folder}${path}`
    const found = readings.get(address) ?? readDocument(path, folder)
    readings.set(address, found)
    // One that could not be read is tried again.
    found.catch(() => readings.delete(address))
    return found
  }
}

/**
 * Renders a document, with links that lead to the others. What else is linked is for readers of the repository.
 *
 * @param folder before the paths of the others: where they are, as seen from the page
 */
async function readDocument(path: ReadingPath, folder: string): Promise<Reading> {
  const file = READINGS[path]
  // Loaded with the first page that is asked for: a start does not wait for it.
  const [text, { readingOf }] = await Promise.all([
    readFile(join(DOCUMENTS, file), 'utf8'),
    import('./markdown.ts'),
  ])
  return readingOf(text, (link) => hrefFrom(file, link, folder))
}

function hrefFrom(file: string, link: string, folder: string): string | null {
  if (/^(https?:|#)/.test(link)) return link
  const [target = '', chapter] = link.split('#')
  const linked = normalize(join(file, '..', target))
  const found = Object.entries(READINGS).find(([path, document]) => path !== 'calls' && document === linked)
  if (!found) return null
  return `${folder}${found[0] || '.'}${chapter === undefined ? '' : `#${chapter}`}`
}
