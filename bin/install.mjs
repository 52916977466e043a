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

// The service runs without the tools for its development. Where some are there they stay: npm would remove them.
const forRunning = ['prestart', 'preagro', 'prebench'].includes(process.env.npm_lifecycle_event)
const withTools = !forRunning || Object.values(installed).some(({ dev }) => dev)

const missing = Object.entries(wanted).some(
  ([path, { version, dev, optional, devOptional }]) =>
    path !== '' && !(optional || devOptional) && (withTools || !dev) && installed[path]?.version !== version,
)

if (missing) {
  console.log(
    withTools ? 'Installing packages ...' : 'Installing the packages that the service runs with ...',
  )
  // NODE_ENV=production would leave the tools out.
  const tools = withTools ? '--include=dev' : '--omit=dev'
  // `npm ci` removes all packages first, under the feet of a service that runs.
  const way = Object.keys(installed).length > 0 ? ['install', '--no-save'] : ['ci']
  const npm = spawnSync('npm', [...way, tools, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: new URL('..', import.meta.url),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (npm.error) console.error(`npm cannot be run: ${npm.error.message}`)
  process.exit(npm.status ?? 1)
}
