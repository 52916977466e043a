// Installs the packages of package-lock.json where they are missing or of another version, so that
// `npm start` and `npm test` are all that a fresh clone needs. Silent when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(new URL(lockfile, import.meta.url), 'utf8')).packages
  } catch {
    return {}
  }
}

const wanted = packagesOf('../package-lock.json')
const installed = packagesOf('../node_modules/.package-lock.json')
const missing = Object.entries(wanted).filter(
  ([path, entry]) => path !== '' && !entry.optional && installed[path]?.version !== entry.version,
)

if (missing.length > 0) {
  console.log(`Installing ${missing.length} packages ...`)
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: new URL('..', import.meta.url),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  process.exit(npm.status ?? 1)
}
