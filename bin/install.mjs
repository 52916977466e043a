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

// The service runs without the tools for its development: they may have been left out on purpose.
const toolsNeeded = !['prestart', 'preagro', 'prebench'].includes(process.env.npm_lifecycle_event)

const wanted = packagesOf('../package-lock.json')
const installed = packagesOf('../node_modules/.package-lock.json')
const missing = Object.entries(wanted).filter(
  ([path, { version, dev, optional, devOptional }]) =>
    path !== '' &&
    !(optional || devOptional) &&
    (toolsNeeded || !dev) &&
    installed[path]?.version !== version,
)

if (missing.length > 0) {
  console.log(`Installing ${missing.length} packages ...`)
  // Said explicitly, because NODE_ENV=production would leave the tools out.
  const include = toolsNeeded ? ['--include=dev'] : []
  const npm = spawnSync('npm', ['ci', ...include, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: new URL('..', import.meta.url),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (npm.error) console.error(`npm cannot be run: ${npm.error.message}`)
  process.exit(npm.status ?? 1)
}
