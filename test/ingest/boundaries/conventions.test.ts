import { describe, expect, test } from 'vitest'
import { findCountry, findLevel, readCode, recognizeProperties } from '#src/ingest/boundaries/properties.ts'

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

/** The same of areas of other levels, and of who has other properties. */
const OTHERS: [publisher: string, level: number, properties: Record<string, unknown>, found: object][] = [
  [
    'GADM 2.8',
    2,
    {
      OBJECTID: 1,
      ID_0: 74,
      ISO: 'ETH',
      NAME_0: 'Ethiopia',
      ID_1: 2,
      NAME_1: 'A',
      ID_2: 3,
      NAME_2: 'B',
      HASC_2: '',
    },
    { code: ['ID_2'], name: ['NAME_2'], parent: ['ID_1'] },
  ],
  [
    'GADM 3.6, the country',
    0,
    { GID_0: 'ETH', NAME_0: 'Ethiopia' },
    { code: ['GID_0'], name: ['NAME_0'], parent: [] },
  ],
  [
    'SALB',
    2,
    { iso3cd: 'ETH', adm0nm: 'ETHIOPIA', adm1cd: 'ETH001', adm1nm: 'A', adm2cd: 'ETH001002', adm2nm: 'B' },
    { code: ['adm2cd'], name: ['adm2nm'], parent: ['adm1cd'] },
  ],
  [
    'GAUL 2015',
    2,
    {
      ADM0_CODE: 79,
      ADM0_NAME: 'Ethiopia',
      ADM1_CODE: 1227,
      ADM1_NAME: 'A',
      ADM2_CODE: 15420,
      ADM2_NAME: 'B',
    },
    { code: ['ADM2_CODE'], name: ['ADM2_NAME'], parent: ['ADM1_CODE'] },
  ],
  [
    'GAUL 2024',
    1,
    { iso3_code: 'ETH', gaul0_code: 131, gaul0_name: 'Ethiopia', gaul1_code: 1227, gaul1_name: 'A' },
    { code: ['gaul1_code'], name: ['gaul1_name'], parent: ['gaul0_code'] },
  ],
  [
    'GAUL 2024, the country',
    0,
    { iso3_code: 'ETH', gaul0_code: 131, gaul0_name: 'Ethiopia' },
    { code: ['iso3_code'], name: ['gaul0_name'], parent: [] },
  ],
  [
    'the World Bank',
    1,
    { ISO_A3: 'ETH', NAM_0: 'Ethiopia', NAM_1: 'A', ADM1CD_c: 'ETH001', GEOM_SRCE: 'x' },
    { code: ['ADM1CD_c'], name: ['NAM_1'], parent: [] },
  ],
  [
    'Natural Earth, regions',
    1,
    {
      adm1_code: 'ETH-3134',
      iso_3166_2: 'ET-TI',
      name: 'Tigray',
      name_en: 'T',
      adm0_a3: 'ETH',
      admin: 'Ethiopia',
    },
    // A region without a name is not called like its country.
    { code: ['adm1_code'], name: ['name', 'name_en'], parent: [] },
  ],
  [
    'Natural Earth, countries (whose LEVEL is none of theirs)',
    0,
    { LEVEL: 2, ADM0_A3: 'ETH', ISO_A3: '-99', NAME: 'Ethiopia', ADMIN: 'Ethiopia' },
    { code: ['ADM0_A3'], name: ['NAME', 'ADMIN'], parent: [] },
  ],
]

/** What IEBC has in its files of counties and of constituencies alike. */
const IEBC = { OBJECTID: 1, COUNTY_NAM: 'NAIROBI', CONST_CODE: 288, CONSTITUEN: 'KAMUKUNJI', COUNTY_COD: 47 }

describe('properties', () => {
  test.each([
    ...CONVENTIONS.map(([publisher, ...rest]) => [publisher, 2, ...rest] as (typeof OTHERS)[number]),
    ...OTHERS,
  ])('of %s are guessed, at level %i', (_, level, properties, found) => {
    const { names, source } = recognizeProperties('a file', level, properties, {})
    expect(names).toEqual(found)
    expect(findLevel(properties, source)).toBe(level)
    expect(findCountry(properties, source)?.text).toMatch(/^(ETH?|RWA|Ethiopia)$/)
  })

  test("of a country in GAUL 2015 are guessed, whose code is the country's own", () => {
    const properties = { ADM0_CODE: 79, ADM0_NAME: 'Ethiopia', STATUS: 'Member State' }
    const { names, source } = recognizeProperties('a file', 0, properties, {})
    expect(names).toEqual({ code: [], name: ['ADM0_NAME'], parent: [] })
    expect(findCountry(properties, source)).toEqual({ text: 'Ethiopia', certain: true })
  })

  test('of the IEBC are guessed for counties and constituencies', () => {
    const county = { code: ['COUNTY_COD'], name: ['COUNTY_NAM'], parent: ['COUNTY_COD'] }
    const constituency = { code: ['CONST_CODE'], name: ['CONSTITUEN'], parent: ['COUNTY_COD'] }
    expect(recognizeProperties('a file', 1, IEBC, {}).names).toEqual(county)
    expect(recognizeProperties('a file', 2, IEBC, {}).names).toEqual(constituency)
    const { source } = recognizeProperties('a file', 2, IEBC, {})
    expect(readCode({ CONST_CODE: 0 }, ['CONST_CODE'], source?.noCode)).toBeUndefined()
    expect(readCode(IEBC, ['CONST_CODE'], source?.noCode)).toBe('288')
  })

  test('that the operator names come first, in any case', () => {
    const [, [, properties]] = CONVENTIONS as [unknown, (typeof CONVENTIONS)[number]]
    expect(recognizeProperties('a file', 2, properties, { code: 'adm2_en', parent: 'none' }).names).toEqual({
      code: ['ADM2_EN'],
      name: ['ADM2_EN'],
      parent: [],
    })
  })

  test('of a country may be missing: it has its own code and name', () => {
    expect(recognizeProperties('a file', 0, { id: 1 }, {}).names).toEqual({ code: [], name: [], parent: [] })
  })

  test.each(['None', 'NULL', '<Null>', 'n/a', '-99', '-', ' ', null])('that say %j are no codes', (iso) => {
    expect(readCode({ shapeISO: iso, shapeID: '7' }, ['shapeISO', 'shapeID'])).toBe('7')
  })
})
