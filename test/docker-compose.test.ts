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
  services: Record<string, { environment: Record<string, string>; secrets: string[] }>
  secrets: Record<string, { file: string }>
}

const compose: Compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'))

function makeSecrets(folder: string) {
  return run('sh', [join(ROOT, 'docker/secrets.sh')], { cwd: folder })
}

async function secretsIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(join(folder, 'secrets'))).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, 'secrets', name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index] as string]))
}

test('each container is given the secrets that its settings name, and no others', () => {
  for (const { environment, secrets } of Object.values(compose.services)) {
    const named = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
    expect(named.map(([, file]) => file).sort()).toEqual(secrets.map((name) => `/run/secrets/${name}`).sort())
  }
})

test('the script makes the files of the compose file, for the containers to read and for nobody to look for', async () => {
  const folder = await newFolder()
  await makeSecrets(folder)
  const made = await secretsIn(folder)
  const files = Object.values(compose.secrets).map(({ file }) => file)
  expect(Object.keys(made).map((name) => `./secrets/${name}`)).toEqual(files.sort())
  const { database_password: password, database_url: url, ...others } = made
  expect(url).toBe(`postgres://agro:${password?.trim()}@database:5432/agro\n`)
  const random = [password, ...Object.values(others)]
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
