import { writeFile } from 'node:fs/promises'
import { command, group, listCommand, YES_OPTION } from '#src/cli/command.ts'
import { timeText } from '#src/cli/table.ts'
import { type Consent, confirm, type Output, pathNamed } from '#src/cli/terminal.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { makeSigningKey } from './signing.ts'
import { keepSigningKey, listSigningKeys, retireSigningKey } from './signing-queries.ts'

async function listKeys(db: Db) {
  const keys = await listSigningKeys(db)
  return keys.map(({ kid, made_at: madeAt, retired_at: retiredAt }) => ({ kid, madeAt, retiredAt }))
}

const list = listCommand('signing-keys', 'List the keys that sign releases, the newest first.', listKeys, {
  none: 'There are no keys: releases have no signature.',
  head: ['KEY', 'SINCE (UTC)', 'RETIRED (UTC)'],
  cells: ({ kid, madeAt, retiredAt }) => [kid, timeText(madeAt), retiredAt ? timeText(retiredAt) : ''],
})

const make = command({
  usage: 'make <file>',
  description:
    'Make a key, and write its private part into a new file for SIGNING_KEY_FILE. Its public part is at /.well-known/jwks.json at once.',
  parameters: ['the file to write, for the user of the service alone'],
  examples: ['agro signing-keys make /etc/agro/signing-2027.pem'],
  async change({ writer }, _: Output, file: string) {
    const path = pathNamed(file)
    const { key, pem } = await makeSigningKey()
    await writeFile(path, pem, { mode: 0o600, flag: 'wx' }).catch((error) => {
      const reason =
        readErrorCode(error) === 'EEXIST' ? 'it is there already, and may have a key' : formatError(error)
      throw new OperatorError(`${file} cannot be written: ${reason}.`)
    })
    await inTransaction(writer, (trx) => keepSigningKey(trx, key))
    const next = `Set SIGNING_KEY_FILE to it and restart the service; then retire the key of before.`
    return [{ kid: key.kid, file: path }, `The key ${key.kid} is in ${file}. ${next}`]
  },
})

const retire = command({
  usage: 'retire <key>',
  description: 'Have a key sign no more. Its public part stays, for what it has signed.',
  parameters: ['its id, as `agro signing-keys list` shows it; after `--` where it begins with `-`'],
  options: [YES_OPTION],
  examples: ['agro signing-keys retire kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
  async change({ writer }, options: Output & Consent, kid: string) {
    await confirm(`This retires the key ${kid}, for good`, options)
    await inTransaction(writer, (trx) => retireSigningKey(trx, kid))
    return [{ retired: kid }, `${kid} is retired.`]
  },
})

export const signingKeysCommand = group(
  'signing-keys',
  'List, make and retire the keys that sign releases. Keys of accounts are not among them.',
  [list, make, retire],
)
