import { expect, test } from 'vitest'
import { findCountry, findLevel, readCode, recognizeProperties } from '#src/ingest/boundaries/properties.ts'

/** Areas of publishers. The LEVEL of Natural Earth is none of its countries. */
const CONVENTIONS = `
this project at level 2: code=11, name=N, parent_code=1, level=2, iso3=RWA
COD-AB at level 2: ADM2_EN=Bole, ADM2_PCODE=ET0102, ADM1_EN=A, ADM1_PCODE=ET01, ADM0_PCODE=ET
COD-AB in lower case at level 2: adm2_pcode=ET0102, adm2_name=Bole, adm1_pcode=ET01, adm0_pcode=ET
COD-AB of 2018 at level 2: admin2Name_en=Bole, admin2Pcode=ET0102, admin1Pcode=ET01, admin0Pcode=ET
geoBoundaries at level 2: shapeName=Bole, shapeISO=, shapeID=7, shapeGroup=ETH, shapeType=ADM2
GADM at level 2: GID_2=ETH.1.2_1, NAME_2=Bole, GID_1=ETH.1_1, NAME_1=A, GID_0=ETH, COUNTRY=Ethiopia
GADM 2.8 at level 2: ID_0=74, ISO=ETH, NAME_0=Ethiopia, ID_1=2, NAME_1=A, ID_2=3, NAME_2=B, HASC_2=
GADM 3.6, the country at level 0: GID_0=ETH, NAME_0=Ethiopia
SALB at level 2: iso3cd=ETH, adm0nm=ETHIOPIA, adm1cd=ETH001, adm1nm=A, adm2cd=ETH001002, adm2nm=B
GAUL 2015 at level 2: ADM0_NAME=Ethiopia, ADM1_CODE=1227, ADM1_NAME=A, ADM2_CODE=15420, ADM2_NAME=B
GAUL 2015, the country at level 0: ADM0_CODE=79, ADM0_NAME=Ethiopia, STATUS=Member State
GAUL 2024 at level 1: iso3_code=ETH, gaul0_code=131, gaul0_name=Ethiopia, gaul1_code=1227, gaul1_name=A
GAUL 2024, the country at level 0: iso3_code=ETH, gaul0_code=131, gaul0_name=Ethiopia
the World Bank at level 1: ISO_A3=ETH, NAM_0=Ethiopia, NAM_1=A, ADM1CD_c=ETH001, GEOM_SRCE=x
Natural Earth, regions at level 1: adm1_code=ETH-3134, name=Tigray, name_en=T, adm0_a3=ETH, admin=Ethiopia
Natural Earth, countries at level 0: LEVEL=2, ADM0_A3=ETH, ISO_A3=-99, NAME=Ethiopia, ADMIN=Ethiopia
`

test('properties for code, name and parent, level and country are guessed as conventions.txt has it', async () => {
  const found = [...CONVENTIONS.matchAll(/^(.+) at level (\d): (.*)$/gm)].map(
    ([, publisher, level, text]) => {
      const properties = propertiesIn(text as string)
      const { names, source } = recognizeProperties('a file', Number(level), properties, {})
      const { code, name, parent } = names
      const columns = [code, name, parent].map((some) => some?.join(' ') ?? '').join(' | ')
      const country = findCountry(properties, source)?.text
      return `${publisher} at level ${findLevel(properties, source)}, of ${country}: ${columns}\n`
    },
  )
  await expect(found.join('')).toMatchFileSnapshot('conventions.txt')
})

test('properties of the IEBC are guessed for counties and constituencies, whose files have both', () => {
  const properties = propertiesIn('COUNTY_NAM=NAIROBI, CONST_CODE=288, CONSTITUEN=KAMUKUNJI, COUNTY_COD=47')
  const namesAt = (level: number) => recognizeProperties('a file', level, properties, {}).names
  expect(namesAt(1)).toEqual(namesIn('COUNTY_COD | COUNTY_NAM | COUNTY_COD'))
  expect(namesAt(2)).toEqual(namesIn('CONST_CODE | CONSTITUEN | COUNTY_COD'))
  const { source } = recognizeProperties('a file', 2, properties, {})
  expect(readCode({ CONST_CODE: 0 }, ['CONST_CODE'], source?.noCode)).toBeUndefined()
  expect(readCode(properties, ['CONST_CODE'], source?.noCode)).toBe('288')
})

test('properties that the operator names come first, in any case, and those of a country may be missing', () => {
  const properties = propertiesIn('ADM2_EN=Bole, ADM2_PCODE=ET0102, ADM1_PCODE=ET01, ADM0_PCODE=ET')
  const given = { code: 'adm2_en', parent: 'none' }
  expect(recognizeProperties('a file', 2, properties, given).names).toEqual(namesIn('ADM2_EN | ADM2_EN |'))
  expect(recognizeProperties('a file', 0, { id: 1 }, {}).names).toEqual(namesIn('| |'))
})

test.each(['None', 'NULL', '<Null>', 'n/a', '-99', '-', ' ', null])('%j is no code', (iso) => {
  expect(readCode({ shapeISO: iso, shapeID: '7' }, ['shapeISO', 'shapeID'])).toBe('7')
})

/** NAME=value, ... */
function propertiesIn(text: string): Record<string, string> {
  return Object.fromEntries(text.split(', ').map((pair) => pair.split('=')))
}

const namesIn = (text: string) => {
  const [code, name, parent] = text.split('|').map((names) => names.split(' ').filter(Boolean))
  return { code, name, parent }
}
