import { describe, expect, test } from 'vitest'
import { Gazetteer } from '#src/extensions/places/gazetteer.ts'

const COUNTRIES = [
  { code: 'eth', name: 'Ethiopia' },
  { code: 'ken', name: 'Kenya' },
]

/** Names of areas by codes, where a code begins with that of the area above. */
const AREAS: Record<string, string> = {
  ETH: 'Ethiopia',
  KEN: 'Kenya',
  'ETH-1': 'Oromia',
  'ETH-2': 'Amhara',
  'ETH-3': 'Addis Ababa',
  'KEN-1': "Murang'a",
  'ETH-1-1': 'North Shewa',
  'ETH-2-1': 'North Shewa',
  'ETH-1-2': 'Addis Zemen',
  'ETH-3-1': 'Addis Ababa',
  'KEN-1-1': 'Sud-Kíveri',
  'ETH-1-1-1': 'Fiche',
  'ETH-2-1-1': 'Fiche',
  'ETH-2-1-2': 'Debre Fiche',
  'KEN-1-1-1': 'Oromia Springs',
}

function gazetteerOf(areas: Record<string, string>): Gazetteer {
  const codes = Object.keys(areas)
  const gazetteer = new Gazetteer(COUNTRIES)
  for (const [index, code] of codes.entries()) {
    const parts = code.split('-')
    const parent = codes.indexOf(parts.slice(0, -1).join('-'))
    gazetteer.add({
      id: index + 1,
      parentId: parent < 0 ? null : parent + 1,
      countryCode: (parts[0] as string).toLowerCase(),
      level: parts.length - 1,
      code,
      name: areas[code] as string,
      lat: index,
      lng: 0,
    })
  }
  return gazetteer
}

const gazetteer = gazetteerOf(AREAS)

const search = (text: string, filter: { countryCode?: string; level?: number } = {}) =>
  gazetteer.search(text, { countryCode: null, level: null, ...filter })

const codesOf = (text: string, filter?: Parameters<typeof search>[1]) => {
  const { areas, similar } = search(text, filter)
  return { areas: areas.map(({ code }) => code), similar: similar.map(({ code }) => code) }
}

const found = (...areas: string[]) => ({ areas, similar: [] })
const near = (...similar: string[]) => ({ areas: [], similar })

test.each([
  ['a code in any case', 'eth-1-1', found('ETH-1-1')],
  ['a code with spaces', ' ETH 1 ', found('ETH-1')],
  ['a whole name before the same beginning of a smaller area', 'OROMIA', found('ETH-1', 'KEN-1-1-1')],
  ['a larger area before a smaller one of the same name', 'addis  ababa', found('ETH-3', 'ETH-3-1')],
  ['beginnings before other parts', 'fic', found('ETH-1-1-1', 'ETH-2-1-1', 'ETH-2-1-2')],
  ['no part of two letters', 'ch', found()],
  ['a name without its apostrophe', 'muranga', found('KEN-1')],
  ['a name with another apostrophe', 'Murang’a', found('KEN-1')],
  ['a name without hyphen and accent', 'SUD KIVERI', found('KEN-1-1')],
  ['a name with a typing error', 'Oromya', near('ETH-1')],
  ['a short name with two typing errors', 'Fkxe', near()],
  ['a long name with two typing errors', 'Adids Ababba', near('ETH-3', 'ETH-3-1')],
  ['a usual spelling', 'Adis Abeba', found('ETH-3', 'ETH-3-1')],
  ['a name with a word of its kind', 'Oromia Region', found('ETH-1')],
  ['a name in one word', 'addiszemen', found('ETH-1-2')],
  ['the nearest of several first', 'Adis Zemn', near('ETH-1-2')],
  ['nothing', '', found()],
  ['signs alone', "%_'; --", found()],
])('a search finds %s: %s', (_, text, expected) => {
  expect(codesOf(text)).toEqual(expected)
})

describe('words behind a name say what it lies in', () => {
  test.each([
    ['Fiche, Oromia', found('ETH-1-1-1')],
    ['FICHE OROMIA', found('ETH-1-1-1')],
    ['fiche, eth-2', found('ETH-2-1-1', 'ETH-2-1-2')],
    ['Fiche, North Shewa, Amhara', found('ETH-2-1-1', 'ETH-2-1-2')],
    ['north shewa amhara ethiopia', found('ETH-2-1')],
    ['Oromia, Kenya', found('KEN-1-1-1')],
    ['oromia eth', found('ETH-1')],
    ['ETH-1-1-1, Oromia', found('ETH-1-1-1')],
    ['Fiche, Kenya', near()],
    ['Fiche, Amhara, North Shewa', near()],
    ['Fishe, Oromia', near('ETH-1-1-1')],
    ['Fiche, Oromya', near('ETH-1-1-1')],
    ['Fishe Amara', near('ETH-2-1-1')],
  ])('%s', (text, expected) => {
    expect(codesOf(text)).toEqual(expected)
  })

  test('and the name before them may be whole', () => {
    expect(search('Fiche, Oromia').areas[0]).toEqual({
      countryCode: 'eth',
      level: 3,
      code: 'ETH-1-1-1',
      name: 'Fiche',
      parent: 'North Shewa',
      within: 'North Shewa, Oromia, Ethiopia',
      lat: 11,
      lng: 0,
      match: 'exact',
    })
  })
})

test('a part of a name with what it lies in finds all that may be meant, and a number of a kind no other kind', () => {
  const names = gazetteerOf({
    ETH: 'Ethiopia',
    'ETH-1': 'Oromia',
    'ETH-1-1': 'North Shewa (Oromia)',
    'ETH-1-2': 'West Shewa',
    'ETH-1-3': 'Zone 3',
  })
  const search = (text: string) => names.search(text, { countryCode: null, level: null })
  expect(search('Shewa, Oromia').areas.map(({ code }) => code)).toEqual(['ETH-1-1', 'ETH-1-2'])
  expect(search('Shewa, Oromia').meant).toBeUndefined()
  expect(search('North Shewa, Oromia').meant?.code).toBe('ETH-1-1')
  expect(search('zone 3').meant?.code).toBe('ETH-1-3')
  expect([search('Ward 3').meant, search('3').meant]).toEqual([undefined, undefined])
})

test('a search may be of a country and a level', () => {
  expect(codesOf('addis ababa', { level: 2 })).toEqual(found('ETH-3-1'))
  expect(codesOf('oromia', { countryCode: 'ken' })).toEqual(found('KEN-1-1-1'))
  expect(codesOf('Oromya', { countryCode: 'ken' })).toEqual(near())
})

test('a search finds eight areas at most, the larger ones', () => {
  const many = gazetteerOf({
    ETH: 'Ethiopia',
    ...Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`ETH-${index}`, `Place ${'x'.repeat(index)}`]),
    ),
  })
  const { areas } = many.search('place', { countryCode: null, level: null })
  expect(areas.map(({ code }) => code)).toEqual(Array.from({ length: 8 }, (_, index) => `ETH-${index}`))
})

describe('an area is meant', () => {
  const meant = (text: string) => search(text).meant?.code

  test.each([
    ['by its name', 'OROMIA', 'ETH-1'],
    ['by its code', 'eth 1 1', 'ETH-1-1'],
    ['with one of its name inside', 'addis ababa', 'ETH-3'],
    ['by a usual spelling', 'Addis Abeba', 'ETH-3'],
    ['without a word of its kind', "Murang'a County", 'KEN-1'],
    ['with what it lies in', 'Fiche, Oromia', 'ETH-1-1-1'],
    ['not where several have the name', 'Fiche', undefined],
    ['not where several have the name in one country', 'North Shewa', undefined],
    ['not by a beginning', 'debre', undefined],
    ['not by a part', 'zemen', undefined],
    ['not with a typing error', 'Oromya', undefined],
    ['not with a typing error in what it lies in', 'Fiche, Oromya', undefined],
  ])('%s: %s', (_, text, code) => {
    expect(meant(text)).toBe(code)
  })

  test('where a smaller one has the whole name and lies in it', () => {
    const towns = gazetteerOf({
      KEN: 'Kenya',
      'KEN-1': 'Nairobi City',
      'KEN-2': 'Molo County',
      'KEN-1-1': 'Starehe',
      'KEN-2-1': 'Kuresoi',
      'KEN-1-1-1': 'Nairobi',
      'KEN-2-1-1': 'Molo',
      ETH: 'Ethiopia',
      'ETH-1': 'Molo',
    })
    const found = (text: string) => towns.search(text, { countryCode: null, level: null }).meant
    expect(
      ['Nairobi', 'Nairobi County', 'nairobi city', 'Molo', 'Molo County'].map((text) => found(text)?.code),
    ).toEqual(['KEN-1', 'KEN-1', 'KEN-1', undefined, 'KEN-2'])
    expect(found('Nairobi')?.match).toBe('spelling')
  })
})
