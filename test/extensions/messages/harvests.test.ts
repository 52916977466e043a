import { expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { createVocabulary, parseMessage } from '#src/extensions/messages/grammar.ts'
import { textsIn } from '#src/extensions/texts/languages.ts'
import { readTypedNumber } from '../../../web/parts/typed.ts'

test('a number of a harvest in a message is read as one that is typed into a form, of kilograms as large, of tons as small', () => {
  const vocabulary = createVocabulary(
    { countries: [], cropAliases: [], published: [] },
    PRODUCTS.list,
    textsIn().words,
  )
  const harvestOf = (text: string) => (parseMessage(`K7 ${text}`, vocabulary) as { number: number }).number
  for (const text of ['3200', '3,200', '3.200', '32,5', '3 200', '1.5', '12,345,678']) {
    expect([text, readTypedNumber(text, true)]).toEqual([text, harvestOf(`${text} kg`)])
  }
  for (const text of ['3,2', '3.2', '3,200', '12']) {
    expect([text, readTypedNumber(text, false)]).toEqual([text, harvestOf(`${text} t`)])
  }
})
