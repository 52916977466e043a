import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

const FILES = ['.', 'docs', 'docs/guide', 'clients/python', 'clients/r', 'clients/typescript', 'examples']
  .concat('examples/integrations', 'ops/kubernetes')
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.md'))

const textOf = (file: string) =>
  readFileSync(join(ROOT, file), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

/** Guides of extensions that are deleted: pages of the service show links to them as text. */
const GONE = [...textOf('docs/architecture.md').matchAll(/^\| `([a-z-]+)` \|/gm)]
  .filter(([, name = '']) => !existsSync(join(ROOT, 'src/extensions', name)))
  .map(([, name]) => `docs/guide/${name}.md`)

test.each(FILES)('the links of %s lead to files and headings that exist', (file) => {
  // Sections of released versions are frozen: their files may have moved.
  const text = file === 'CHANGELOG.md' ? textOf(file).split(/^(?=## \d)/m)[0] : textOf(file)
  const links = [...(text ?? '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const broken = links
    .filter((link) => !/^(https?:|mailto:)/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? file : join(dirname(file), path)
      if (!existsSync(join(ROOT, target))) return !GONE.includes(target)
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
    })
  expect(broken).toEqual([])
})

/** The names that a forge gives to the headings of a document. */
function anchorsOf(file: string): string[] {
  return [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
