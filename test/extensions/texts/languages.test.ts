import { readdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LANGUAGES, readLanguages, textsIn } from '#src/extensions/texts/languages.ts'
import { folderOf, type LanguageContent, madeUpLanguage } from './language-files.ts'

describe('the languages of messages', () => {
  test('each file of the service is served, or waits for nothing but a person who checks it', () => {
    const { served, refused } = LANGUAGES
    const files = readdirSync('src/extensions/texts').filter((name) => name.endsWith('.yaml'))
    const known = [...[...served.keys()].map((code) => `${code}.yaml`), ...refused.map(({ file }) => file)]
    expect(known.toSorted()).toEqual(files.toSorted())
    expect(refused.filter(({ reason }) => reason !== 'lacks checked_by or checked_on')).toEqual([])
    expect([...served.keys()][0]).toBe('en')
    expect(textsIn('xx')).toBe(textsIn('en'))
  })

  test('one with the keys of English, checked by somebody, is served', () => {
    const { served, refused } = readWith({ 'qaa.yaml': madeUpLanguage('qaa'), 'notes.txt': '' })
    expect([...served.keys()]).toEqual(['en', 'qaa'])
    expect(refused).toEqual([])
    expect(served.get('qaa')).toMatchObject({
      language: 'qaa',
      name: 'Made up',
      too_long: expect.stringMatching(/^<The /),
    })
  })

  test.each<[string, (file: LanguageContent) => unknown]>([
    ['lacks checked_by or checked_on', (file) => delete file.checked_by],
    ['lacks checked_by or checked_on', (file) => delete file.checked_on],
    ['was checked on no day until today', (file) => Object.assign(file, { checked_on: '2026-11-29' })],
    ['was checked on no day until today', (file) => Object.assign(file, { checked_on: '2026-02-30' })],
    ['was checked on no day until today', (file) => Object.assign(file, { checked_on: 'in May' })],
    ['has the language qab', (file) => Object.assign(file, { language: 'qab' })],
    ["is not valid: /texts must have required property 'range'", ({ texts }) => delete texts.range],
    ["is not valid: /texts/odds must have required property 'all'", ({ texts }) => delete texts.odds.all],
    [
      'is not valid: /texts/odds must NOT have additional properties: most',
      ({ texts }) => Object.assign(texts.odds, { most: 'x' }),
    ],
    [
      'is not valid: /texts/months must NOT have fewer than 12 items',
      ({ texts }) => (texts.months as string[]).pop(),
    ],
    [
      'must have the placeholders {years} in odds.some',
      ({ texts }) => Object.assign(texts.odds, { some: 'some years of 10' }),
    ],
    [
      'must have the placeholders {high} {low} in range',
      ({ texts }) => Object.assign(texts, { range: '{low} to {hihg}' }),
    ],
    [
      'must have the placeholders (none) in too_long',
      ({ texts }) => Object.assign(texts, { too_long: 'Too long by {length}.' }),
    ],
    ['has no name of the product forage', ({ texts }) => delete texts.products.forage],
    [
      'is not valid: /texts/area must match pattern "^\\S(.*\\S)?$"',
      ({ texts }) => Object.assign(texts, { area: 'two\nlines' }),
    ],
  ])('one that %s is not served (%#)', (reason, spoil) => {
    const file = madeUpLanguage('qaa')
    spoil(file)
    const { served, refused } = readWith({ 'qaa.yaml': file })
    expect([...served.keys()]).toEqual(['en'])
    expect(refused).toEqual([{ file: 'qaa.yaml', reason }])
  })

  test('one that is no YAML is not served, and no others are missing for it', () => {
    const { served, refused } = readWith({ 'qaa.yaml': 'a: [', 'qab.yaml': madeUpLanguage('qab') })
    expect([...served.keys()]).toEqual(['en', 'qab'])
    expect(refused).toEqual([{ file: 'qaa.yaml', reason: expect.stringMatching(/^is no YAML: /) }])
  })

  test('English with a mistake ends the start', () => {
    expect(() => readWith({ 'en.yaml': { ...madeUpLanguage('en'), name: undefined } })).toThrow(
      "en.yaml is not valid: / must have required property 'name'.",
    )
  })
})

const TODAY = '2026-11-28'

function readWith(files: Record<string, object | string>) {
  const { url, remove } = folderOf(files)
  onTestFinished(remove)
  return readLanguages(url, TODAY)
}
