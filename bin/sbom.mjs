// Writes the packages that the service runs with, as CycloneDX: node bin/sbom.mjs > sbom.json
//
// `npm sbom --omit dev` leaves out packages that tools for development need as well, such as nodemailer (11.19). So it
// is asked about a lockfile that has no packages for development, and nothing is installed or fetched for it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const { devDependencies: _, scripts: __, ...manifest } = readJson('package.json')
const lock = readJson('package-lock.json')
delete lock.packages[''].devDependencies
for (const [path, { dev }] of Object.entries(lock.packages)) {
  if (dev) delete lock.packages[path]
}

const temporary = mkdtempSync(join(tmpdir(), 'agro-sbom-'))
// npm calls what a document is of after its folder.
const folder = join(temporary, manifest.name)
try {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  execFileSync('npm', ['sbom', '--package-lock-only', '--offline', '--sbom-format', 'cyclonedx'], {
    cwd: folder,
    stdio: 'inherit',
  })
} finally {
  rmSync(temporary, { recursive: true })
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}
