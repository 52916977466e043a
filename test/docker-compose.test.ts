import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { newFolder } from './setup/folders.ts'

const ROOT = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

interface Compose {
  services: Record<string, { environment?: Record<string, string>; secrets?: string[] }>
  secrets: Record<string, { file: string }>
}

const compose: Compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true })

/** The operator's own, which no setting names and no script makes. */
const OWN = 'certificate'

/** What .env sets, with the profile that it belongs to. */
const CHOSEN: Record<string, string> = { DATABASE_READ_URL_FILE: '/run/secrets/database_read_url' }

/** The files of the secrets, with what is taken where .env says nothing. */
const FILES = Object.entries(compose.secrets)
  .filter(([name]) => name !== OWN)
  .map(([, { file }]) => file.replace(/^\$\{\w+:-(.*)\}$/, '$1'))

function makeSecrets(folder: string) {
  return run('sh', [join(ROOT, 'docker/secrets.sh')], { cwd: folder })
}

async function secretsIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(join(folder, 'secrets'))).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, 'secrets', name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index] as string]))
}

test('each container is given the secrets that its settings name, and no others', () => {
  for (const { environment = {}, secrets = [] } of Object.values(compose.services)) {
    if (secrets.includes(OWN)) continue
    const named = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
    const files = named.map(([name, file]) => CHOSEN[name] ?? file)
    expect(files.sort()).toEqual(secrets.map((name) => `/run/secrets/${name}`).sort())
  }
})

test('the script makes the files of the compose file, for the containers to read and for nobody to look for', async () => {
  const folder = await newFolder()
  await makeSecrets(folder)
  const made = await secretsIn(folder)
  const files = new Set([...FILES, './secrets/service_database_url'])
  expect(Object.keys(made).map((name) => `./secrets/${name}`)).toEqual([...files].sort())
  const { database_url, service_database_url, database_read_url, ...passwords } = made
  const service = passwords.service_password?.trim()
  expect(database_url).toBe(`postgres://agro:${passwords.database_password?.trim()}@database:5432/agro\n`)
  expect(service_database_url).toBe(`postgres://agro_service:${service}@database:5432/agro\n`)
  expect(database_read_url).toBe(`postgres://agro_service:${service}@replica:5432/agro\n`)
  const random = Object.values(passwords)
  expect(random).toEqual(random.map(() => expect.stringMatching(/^[0-9a-f]{64}\n$/)))
  expect(new Set(random).size).toBe(random.length)
  const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8)
  expect(await modeOf('secrets')).toBe('700')
  for (const file of files) expect(await modeOf(file)).toBe('644')
})

test('the script leaves the secrets that are there as they are', async () => {
  const folder = await newFolder()
  await makeSecrets(folder)
  await writeFile(join(folder, 'secrets/jwt_secret'), 'one that was in use before\n')
  const before = await secretsIn(folder)
  await makeSecrets(folder)
  expect(await secretsIn(folder)).toEqual(before)
})
