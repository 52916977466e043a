import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { identifyKey, makeSigningKey } from '#src/extensions/signatures/signing.ts'
import { runAgro } from '#test/setup/cli.ts'
import { withDatabase } from '#test/setup/database.ts'
import { examine } from '#test/setup/examination.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'

const testDatabase = ownDatabase('empty')

test('a key is made for the service alone, listed, and retired once', async () => {
  const agro = (...words: string[]) => runAgro(testDatabase, 'signing-keys', ...words)
  expect((await agro('list')).stdout).toBe('There are no keys: releases have no signature.\n')
  const file = join(await newFolder(), 'signing.pem')
  const made = await agro('make', file, '--json')
  const { kid } = JSON.parse(made.stdout)
  expect(kid).toMatch(/^[\w-]{43}$/)
  const pem = await readFile(file, 'utf8')
  expect(createPrivateKey(pem).asymmetricKeyType).toBe('ed25519')
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
  expect(loadConfig({ SIGNING_KEY_FILE: file }).SIGNING_KEY).toBe(pem.trim())

  const again = await agro('make', file)
  expect([again.code, again.stderr]).toEqual([
    1,
    `${file} cannot be written: it is there already, and may have a key.\n`,
  ])
  expect(await readFile(file, 'utf8')).toBe(pem)

  expect(JSON.parse((await agro('list', '--json')).stdout)).toMatchObject([{ kid, retiredAt: null }])
  expect((await agro('retire', kid)).stderr).toContain('--yes')
  expect((await agro('retire', kid, '--yes')).stdout).toBe(`${kid} is retired.\n`)
  expect((await agro('list')).stdout).toMatch(new RegExp(`${kid} .* UTC|${kid}  \\S+ \\S+  \\S+`))
  expect((await agro('retire', kid, '--yes')).stderr).toBe(`${kid} is retired already.\n`)
  const unknown = await agro('retire', 'other', '--yes')
  expect(unknown.stderr).toBe('There is no key other; `agro signing-keys list` shows them.\n')
})

test('the doctor says whether the key of the file signs releases', async () => {
  const agro = (...words: string[]) => runAgro(testDatabase, 'signing-keys', ...words)
  const file = join(await newFolder(), 'signing.pem')
  const { kid } = JSON.parse((await agro('make', file, '--json')).stdout)
  const told = async () =>
    (await examine(testDatabase, { SIGNING_KEY_FILE: file })).of('signatures signing_key')
  expect(await told()).toEqual([['ok', `The key ${kid} signs releases.`]])
  await agro('retire', kid, '--yes')
  const retired = `The key ${kid} of SIGNING_KEY_FILE is retired: releases have no signature.`
  expect(await told()).toEqual([['warning', retired]])
  await withDatabase(testDatabase, ({ writer }) => writer.deleteFrom('signing_key').execute())
  expect(await told()).toEqual([['warning', `The key ${kid} of SIGNING_KEY_FILE is not public yet.`]])

  const { code, of } = await examine(testDatabase, { SIGNING_KEY_FILE: `${file}.none` })
  expect(code).toBe(2)
  expect(of('settings configuration')).toEqual([['error', expect.stringContaining('SIGNING_KEY_FILE')]])
})

test('no key that is made has an id that a command takes for an option', async () => {
  for (let made = 0; made < 500; made++) {
    const { key } = await makeSigningKey()
    expect(key.kid).not.toMatch(/^-/)
  }
})

test('a key from elsewhere is retired by its id after --, where that begins with -', async () => {
  let own = await identifyKey(generateKeyPairSync('ed25519').privateKey)
  while (!own.kid.startsWith('-')) own = await identifyKey(generateKeyPairSync('ed25519').privateKey)
  await withDatabase(testDatabase, ({ writer }) => writer.insertInto('signing_key').values(own).execute())
  const retired = await runAgro(testDatabase, 'signing-keys', 'retire', '--yes', '--', own.kid)
  expect(retired.stdout).toBe(`${own.kid} is retired.\n`)
})

test('another key ends the start with a sentence that has no part of it', () => {
  expect(() => loadConfig({ SIGNING_KEY: 'secret words' })).toThrow(
    'SIGNING_KEY must be an Ed25519 key as PEM, in a file of SIGNING_KEY_FILE; `agro signing-keys make FILE` makes one',
  )
})
