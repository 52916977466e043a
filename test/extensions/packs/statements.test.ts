import { expect, test } from 'vitest'
import { findAreaCode, findAreaShape } from '#src/extensions/packs/queries.ts'
import { decodeMultiPolygon } from '#src/raster/tiles.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService()

test('an area is found by its code in any case, with its shape', async () => {
  const { writer: db } = service.database
  const area = { countryCode: 'rwa', level: 1, code: 'RWA-01' }
  expect(await findAreaCode(db, { ...area, code: 'rwa-01', level: null })).toMatchObject({
    code: 'RWA-01',
    level: 1,
  })
  expect(decodeMultiPolygon((await findAreaShape(db, area)) as Buffer)).toHaveLength(1)
  expect(await findAreaShape(db, { ...area, code: 'none' })).toBeUndefined()
  for (const level of [null, 0]) {
    const found = await findAreaCode(db, { countryCode: 'eth', code: 'none', level })
    expect(found).toBeUndefined()
  }
})
