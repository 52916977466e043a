import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'

const run = promisify(execFile)

/** A project that runs with one package and is developed with another, both in files beside it. */
let project: string
beforeAll(async () => {
  project = await newFolder()
  for (const name of ['engine', 'tool']) {
    const folder = join(project, 'sources', name)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0' }))
    await run('npm', ['pack', '--pack-destination', project, folder])
  }
  const manifest = {
    name: 'project',
    dependencies: { engine: 'file:engine-1.0.0.tgz' },
    devDependencies: { tool: 'file:tool-1.0.0.tgz' },
  }
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  await run('npm', ['install', '--package-lock-only', '--offline'], { cwd: project })
  await cp('bin/install.mjs', join(project, 'bin/install.mjs'))
})
beforeEach(() => rm(join(project, 'node_modules'), { recursive: true, force: true }))

const FOR_RUNNING = 'Installing the packages that the service runs with ...'

test('in a fresh clone `npm run start` installs what it runs with and no more', async () => {
  expect(await install('start')).toEqual({ said: FOR_RUNNING, packages: ['engine'] })
})

test('in a fresh clone `npm run test` installs the tools as well, whatever NODE_ENV says', async () => {
  const installed = { said: 'Installing packages ...', packages: ['engine', 'tool'] }
  expect(await install('test', { NODE_ENV: 'production' })).toEqual(installed)
})

test('the packages of a service that runs stay while the tools come beside them', async () => {
  await install('start')
  const bundle = join(project, 'node_modules/.cache/bundle.mjs')
  await mkdir(dirname(bundle), { recursive: true })
  await writeFile(bundle, '')
  const { ino } = await stat(join(project, 'node_modules/engine/package.json'))
  expect((await install('test')).packages).toEqual(['engine', 'tool'])
  expect((await stat(join(project, 'node_modules/engine/package.json'))).ino).toBe(ino)
  expect((await stat(bundle)).isFile()).toBe(true)
  expect(await install('start')).toEqual({ said: '', packages: ['engine', 'tool'] })
})

/** Runs what npm runs before a script. */
async function install(script: string, environment: Record<string, string> = {}) {
  const { stdout } = await run(process.execPath, ['bin/install.mjs'], {
    cwd: project,
    env: { ...process.env, ...environment, npm_lifecycle_event: `pre${script}`, npm_config_offline: 'true' },
  })
  const packages = (await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))
  return { said: stdout.split('\n')[0], packages }
}
