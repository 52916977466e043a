import { readFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { Cache } from '#src/lib/cache.ts'
import type { Extension } from '../extension.ts'
import { type RenderedMarkdown, renderMarkdown } from './markdown.ts'

const DOCUMENTS = join(import.meta.dirname, '../../../docs')

/** The page itself has the first calls. */
export const FIRST_CALLS = 'calls'

const CHANGELOG = 'changelog'

/** Documents by their path below /docs, and what the list of the page calls them. */
const READINGS: Reading[] = [
  { path: FIRST_CALLS, file: 'guide/calls.md', title: 'First calls' },
  { path: 'guide', file: 'guide/integrators.md', title: 'The guide' },
  { path: 'rules', file: 'api.md', title: 'The rules' },
  { path: 'certainty', file: 'guide/certainty.md', title: 'How sure values are' },
  { path: 'quantities', file: 'guide/quantities.md', title: 'Quantities' },
  { path: 'gis', file: 'guide/gis.md', title: 'GIS' },
  { path: 'clients', file: 'guide/clients.md', title: 'Clients' },
  { path: 'operators', file: 'guide/operators.md', title: 'Operators' },
  { path: 'publish', file: 'guide/publish.md', title: 'A season' },
  { path: 'manifest', file: 'manifest.md', title: 'Own rasters' },
  { path: 'contributors', file: 'guide/contributors.md', title: 'Contributors' },
  { path: 'versions', file: 'versioning.md', title: 'Versions' },
  { path: CHANGELOG, file: '../CHANGELOG.md', title: 'The changelog' },
]

interface Reading {
  path: string
  file: string
  title: string
}

/** @param on extensions, whose guides stand before the reading that they name */
export function createReadings(on: readonly Pick<Extension, 'name' | 'guide'>[]) {
  const guides = on.flatMap(({ name, guide }) => (guide ? [{ ...guide, file: `guide/${name}.md` }] : []))
  const all = READINGS.flatMap((own) => [...guides.filter(({ before }) => before === own.path), own])
  const cache = new Cache<string, RenderedMarkdown>('readings', { max: 100 })
  const list = all.filter(({ path }) => path !== FIRST_CALLS)

  function read(path: string, folder: string): Promise<RenderedMarkdown> {
    const { file = '' } = all.find((one) => one.path === path) ?? {}
    return cache.load(`${folder}${path}`, () => readDocument(all, file, folder))
  }

  return {
    /** Those with a page of their own. */
    list,
    read,
    /** Chapters for the search: what changed is no place to look things up. */
    async chapters() {
      const found = list.filter(({ path }) => path !== CHANGELOG)
      const each = await Promise.all(
        found.map(async ({ path, title }) => {
          const { opening: _, text, chapters } = await read(path, '')
          const whole = { href: path, title, where: '', text }
          return [
            whole,
            ...chapters.map((chapter) => ({
              href: `${path}#${chapter.id}`,
              title: chapter.heading.replaceAll(/<[^>]*>/g, ''),
              where: title,
              text: chapter.text,
            })),
          ]
        }),
      )
      return each.flat()
    },
  }
}

/** @param folder relative path of the other documents; links to files elsewhere are for readers of the repository */
async function readDocument(all: Reading[], file: string, folder: string): Promise<RenderedMarkdown> {
  const text = await readFile(join(DOCUMENTS, file), 'utf8')
  return renderMarkdown(text, (link) => hrefFrom(all, file, link, folder))
}

function hrefFrom(all: Reading[], file: string, link: string, folder: string): string | null {
  if (/^(https?:|#)/.test(link)) return link
  const [target = '', chapter] = link.split('#')
  const linked = normalize(join(file, '..', target))
  const found = all.find((one) => one.path !== FIRST_CALLS && one.file === linked)
  if (!found) return null
  return `${folder}${found.path}${chapter === undefined ? '' : `#${chapter}`}`
}
