import { afterAll, beforeAll, expect, test } from 'vitest'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await createTestDatabase('empty')
})
afterAll(() => testDatabase.drop())

const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)
const says = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: '' })

test('countries and crops are added, named, offered and listed, for people and for programs', async () => {
  expect(await agro('countries', 'add', 'tza', 'Tanzania')).toEqual(says('tza is added as Tanzania.'))
  expect(await agro('countries', 'alias', 'tza', 'TZ', 'Tanganyika')).toEqual(
    says('tza is now also found by TZ, Tanganyika.'),
  )
  expect(await agro('countries', 'alias', '--remove', 'tza', 'Tanganyika')).toEqual(
    says('tza is no longer found by Tanganyika.'),
  )
  const added = await agro('crops', 'add', 'maize', 'Maize', '--json')
  expect(JSON.parse(added.stdout)).toEqual({ code: 'maize', name: 'Maize' })
  expect(await agro('crops', 'offer', 'Tanzania', 'maize')).toEqual(says('Tanzania offers maize now.'))
  expect(await agro('crops', 'rename', 'maize', 'Corn')).toEqual(
    says('maize is called Corn now, and no more Maize.'),
  )
  expect(await agro('countries', 'list')).toEqual(
    says(
      [
        'CODE  NAME      CROPS              BOUNDARIES  ALSO FOUND BY',
        'eth   Ethiopia  wheat              none        et, ethiopie, federal democratic republic of ethiopia',
        'gha   Ghana     none, only forage  none        gh, republic of ghana',
        'ken   Kenya     none, only forage  none        ke, kenia, republic of kenya',
        'rwa   Rwanda    potato             none        republic of rwanda, ruanda, rw',
        'tza   Tanzania  maize              none        tz',
      ].join('\n'),
    ),
  )
  const listed = await agro('crops', 'list', '--json')
  expect(JSON.parse(listed.stdout)).toEqual([
    { code: 'maize', name: 'Corn', aliases: [], countries: ['tza'] },
    { code: 'potato', name: 'Potato', aliases: [], countries: ['rwa'] },
    { code: 'wheat', name: 'Wheat', aliases: [], countries: ['eth'] },
  ])
})

test('what cannot be done is said in a sentence, and fails', async () => {
  expect(await agro('countries', 'remove', 'tza', '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tza cannot be removed while these refer to it: offers of crops (maize).\n',
  })
  expect(await agro('countries', 'withdraw', 'tza', 'maize')).toEqual(says('Tanzania offers maize no more.'))
  expect(await agro('countries', 'remove', 'tza', '--yes')).toEqual(says('tza is removed.'))
})
