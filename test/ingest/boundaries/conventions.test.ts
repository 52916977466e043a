import { describe, expect, test } from 'vitest'
import { countryOf, levelOf, propertyNames } from '#src/ingest/boundaries/properties.ts'

/** What publishers call the properties of an area of level 2, and what is to be found in them. */
const CONVENTIONS: [publisher: string, properties: Record<string, unknown>, found: object][] = [
  [
    'this project',
    { code: '11', name: 'Nyarugenge', parent_code: '1', level: 2, iso3: 'RWA' },
    { code: ['code'], name: ['name'], parent: ['parent_code'] },
  ],
  [
    'COD-AB',
    { ADM2_EN: 'Bole', ADM2_PCODE: 'ET0102', ADM1_EN: 'A', ADM1_PCODE: 'ET01', ADM0_PCODE: 'ET' },
    { code: ['ADM2_PCODE'], name: ['ADM2_EN'], parent: ['ADM1_PCODE'] },
  ],
  [
    'COD-AB in lower case',
    { adm2_pcode: 'ET0102', adm2_name: 'Bole', adm1_pcode: 'ET01', adm0_pcode: 'ET' },
    { code: ['adm2_pcode'], name: ['adm2_name'], parent: ['adm1_pcode'] },
  ],
  [
    'COD-AB of 2018',
    { admin2Name_en: 'Bole', admin2Pcode: 'ET0102', admin1Pcode: 'ET01', admin0Pcode: 'ET' },
    { code: ['admin2Pcode'], name: ['admin2Name_en'], parent: ['admin1Pcode'] },
  ],
  [
    'geoBoundaries',
    { shapeName: 'Bole', shapeISO: '', shapeID: '7', shapeGroup: 'ETH', shapeType: 'ADM2' },
    { code: ['shapeID'], name: ['shapeName'], parent: [] },
  ],
  [
    'GADM',
    { GID_2: 'ETH.1.2_1', NAME_2: 'Bole', GID_1: 'ETH.1_1', NAME_1: 'A', GID_0: 'ETH', COUNTRY: 'Ethiopia' },
    { code: ['GID_2'], name: ['NAME_2'], parent: ['GID_1'] },
  ],
]

describe('properties', () => {
  test.each(CONVENTIONS)('of %s are guessed', (_, properties, found) => {
    expect(propertyNames('a file', 2, properties, {})).toEqual(found)
    expect(levelOf(properties)).toBe(2)
    expect(countryOf(properties)).toMatch(/^(ETH?|RWA)$/)
  })

  test('that the operator names come first, in any case', () => {
    const [, [, properties]] = CONVENTIONS as [unknown, (typeof CONVENTIONS)[number]]
    expect(propertyNames('a file', 2, properties, { code: 'adm2_en', parent: 'none' })).toEqual({
      code: ['ADM2_EN'],
      name: ['ADM2_EN'],
      parent: [],
    })
  })

  test('of a country may be missing: it has its own code and name', () => {
    expect(propertyNames('a file', 0, { id: 1 }, {})).toEqual({ code: [], name: [], parent: [] })
  })
})
