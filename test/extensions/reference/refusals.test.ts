import { expect, test } from 'vitest'
import { COUNTRIES, CROPS, listCountryEntries, listCropEntries } from '#src/catalog/reference-queries.ts'
import { OperatorError } from '#src/errors.ts'
import {
  addAliases,
  addEntry,
  offerCrop,
  removeAliases,
  removeEntry,
  renameEntry,
  withdrawCrop,
} from '#src/extensions/reference/change-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { onePixelRelease, operatorOf } from '#test/setup/releases.ts'

const opened = openDatabase('empty')

type Change = Parameters<ReturnType<typeof opened.database.writer.transaction>['execute']>[0]

const REFUSED: Record<string, Change> = {
  'a code in capitals': (trx) => addEntry(trx, COUNTRIES, 'TZA', 'Tanzania'),
  'a crop code with a space': (trx) => addEntry(trx, CROPS, 'sweet potato', 'Sweet potato'),
  'a name that is too long': (trx) => renameEntry(trx, COUNTRIES, 'ken', 'K'.repeat(101)),
  'a name that is there, but for case and accents': (trx) => addEntry(trx, COUNTRIES, 'xxx', 'KÉNYA'),
  'a name that is another one’s alias': (trx) => renameEntry(trx, COUNTRIES, 'ken', 'Ruanda'),
  'an alias that is another one’s code': (trx) => addAliases(trx, COUNTRIES, 'ken', ['Kenyatta', 'RWA']),
  'to remove an alias that it has not': (trx) => removeAliases(trx, COUNTRIES, 'ken', ['rw']),
  'to remove its name from what it is found by': (trx) => removeAliases(trx, COUNTRIES, 'ken', ['Kenya']),
  'an unknown country': (trx) => renameEntry(trx, COUNTRIES, 'xyz', 'Xyzania'),
  'to offer what is offered': (trx) => offerCrop(trx, 'eth', 'Wheat'),
  'to withdraw what is not offered': (trx) => withdrawCrop(trx, 'ken', 'wheat'),
  'to remove a crop that is offered': (trx) => removeEntry(trx, CROPS, 'wheat'),
}

test('changes of countries and crops are refused with a sentence, as refused.txt has it, and change nothing', async () => {
  const before = await everything()
  const told: string[] = []
  for (const [name, change] of Object.entries(REFUSED)) {
    const refusal = await make(change).then(
      () => ({ name: 'taken', message: '' }),
      (error: Error) => error,
    )
    expect([name, refusal.name]).toEqual([name, 'OperatorError'])
    told.push(`${name}\n  ${refusal.message}\n`)
  }
  expect(await everything()).toEqual(before)
  await expect(told.join('\n')).toMatchFileSnapshot('refused.txt')
})

test('where a country lies is known from its outline, and nothing is refused for its place before', async () => {
  const { database } = opened
  await make((trx) => addEntry(trx, COUNTRIES, 'zmb', 'Zambia'))
  const load = async (level: number, shape: object) =>
    loadFile(database, await boundaryFile([feature({ code: 'ZM1', name: 'X' }, shape)]), 'zmb', level)
  const far = rectangle(-60, -20, -59, -19)
  expect(await load(1, far)).toMatchObject({ added: 1 })
  await expect(load(0, rectangle(280_000, 884_000, 390_000, 994_000))).rejects.toThrow(
    'not in degrees of WGS 84',
  )
  await load(0, far)
  // An outline that was wrong is replaced.
  await load(0, rectangle(22, -18, 33.7, -8.2))
  await expect(load(1, rectangle(-60, -20, -58, -18))).rejects.toThrow('does not lie in Zambia')
  await expect(load(1, rectangle(-18, 22, -8.2, 33))).rejects.toThrow('did you mean lng, lat?')
  expect(await load(1, rectangle(22, -17, 30, -9))).toMatchObject({ updated: 1 })
  const entries = await listCountryEntries(database.writer)
  expect(entries.find(({ code }) => code === 'zmb')?.extent).toEqual([22, -18, 33.7, -8.2])
})

test('what releases, boundaries and offers refer to is not removed; the last of them gone, it is', async () => {
  const { database } = opened
  await make((trx) => addEntry(trx, COUNTRIES, 'tza', 'Tanzania'))
  await make((trx) => addEntry(trx, CROPS, 'maize', 'Maize'))
  await make((trx) => offerCrop(trx, 'tza', 'maize'))
  await loadFile(database, await boundaryFile([feature({}, rectangle(29, -12, 40, -1))]), 'tza', 0)
  const series = { countryCode: 'tza', cropCode: 'maize' }
  const { code } = await loadRelease(database, onePixelRelease({ Urea: 1 }, series))

  await expect(make((trx) => withdrawCrop(trx, 'tza', 'maize'))).rejects.toThrow(
    new OperatorError(
      `Tanzania has releases of maize, which would go on answering: delete them first (${code}).`,
    ),
  )
  await operatorOf(database).remove(code, true)
  await make((trx) => withdrawCrop(trx, 'tza', 'maize'))
  const refusal = (what: string, rest: string) =>
    new OperatorError(`${what} cannot be removed while these refer to it: ${rest}.`)
  const releases = `releases, those deleted included (${code})`
  await expect(make((trx) => removeEntry(trx, COUNTRIES, 'Tanzania'))).rejects.toThrow(
    refusal('tza', `${releases}; boundaries of level 0`),
  )
  await expect(make((trx) => removeEntry(trx, CROPS, 'maize'))).rejects.toThrow(refusal('maize', releases))

  await database.writer.deleteFrom('release').where('code', '=', code).execute()
  await make((trx) => removeEntry(trx, CROPS, 'maize'))
  expect((await listCropEntries(database.writer)).map((crop) => crop.code)).toEqual(['potato', 'wheat'])
})

test('what is renamed is still found by the name before, until that alias is removed', async () => {
  await make((trx) => addEntry(trx, COUNTRIES, 'swz', 'Swaziland'))
  await make((trx) => renameEntry(trx, COUNTRIES, 'Swaziland', 'Eswatini'))
  const named = async () =>
    (await listCountryEntries(opened.database.writer)).find(({ code }) => code === 'swz')
  expect(await named()).toMatchObject({ name: 'Eswatini', aliases: ['swaziland'] })
  await make((trx) => removeAliases(trx, COUNTRIES, 'Eswatini', ['Swaziland']))
  expect(await named()).toMatchObject({ name: 'Eswatini', aliases: [] })
  await make((trx) => removeEntry(trx, COUNTRIES, 'eswatini'))
  expect(await named()).toBeUndefined()
})

const make = (change: Change) => opened.database.writer.transaction().execute(change)

const everything = async () => [
  await listCountryEntries(opened.database.writer),
  await listCropEntries(opened.database.writer),
]
