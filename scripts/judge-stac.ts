/** Holds all STAC documents of a running service to stac-node-validator. Needs Node 22.12, the registry, and the schemas. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'

const VALIDATOR = 'stac-node-validator@2.0.0'

const FOLLOWED = new Set(['root', 'parent', 'child', 'item', 'items', 'collection', 'data', 'next'])

interface StacDocument {
  links?: { rel: string; href: string }[]
  features?: StacDocument[]
  collections?: StacDocument[]
}

const command = new Command('npm run judge-stac --')
  .description('Hold all STAC documents of a service to stac-node-validator.')
  .argument('<url>', 'of a running service')
  .argument('[options...]', 'of the validator, behind --: --schemaMap reads schemas from files')
  .parse()
const [url = '', ...options] = command.args
const folder = await mkdtemp(join(tmpdir(), 'stac-'))
process.exitCode = await save(`${url}/stac`)
  .then(() => validate())
  .finally(() => rm(folder, { recursive: true }))

/** Saves the documents that links lead to. */
async function save(root: string): Promise<void> {
  const addresses = new Set([root])
  let saved = 0
  for (const address of addresses) {
    const response = await fetch(address)
    if (!response.ok) throw new Error(`${address} answers ${response.status}.`)
    const found = (await response.json()) as StacDocument
    for (const one of [found, ...listParts(found)]) {
      for (const { rel, href } of one.links ?? []) {
        const next = new URL(href, address)
        if (FOLLOWED.has(rel) && next.pathname.includes('/stac')) addresses.add(next.href)
      }
    }
    const parts = listParts(found)
    for (const one of parts.length > 0 ? parts : [found]) {
      await writeFile(join(folder, `${++saved}.json`), JSON.stringify(one))
    }
  }
  console.log(`${saved} documents of ${addresses.size} addresses`)
}

function listParts({ features = [], collections = [] }: StacDocument): StacDocument[] {
  return [...features, ...collections]
}

/** Resolves to the exit code of the validator: 0 where all are valid. */
function validate(): Promise<number> {
  const validator = spawn('npx', ['--yes', VALIDATOR, folder, ...options], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    validator.once('error', reject).once('exit', (code) => resolve(code ?? 1))
  })
}
