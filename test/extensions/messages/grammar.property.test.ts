import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { createVocabulary, parseMessage } from '#src/extensions/messages/grammar.ts'
import { textsIn } from '#src/extensions/texts/languages.ts'

const layers = (product: string, ...inputs: (string | null)[]) =>
  ({ product, layers: inputs.map((input) => ({ input })) }) as never

const vocabulary = createVocabulary(
  {
    countries: [{ code: 'eth', name: 'Ethiopia', crops: ['wheat', 'sweet-potato'] }] as never,
    cropAliases: [{ alias: 'sinde', code: 'wheat' }] as never,
    published: [
      layers('yield', null),
      layers('fertilizer', 'Urea', 'DAP'),
      layers('isfm', 'Compost', 'Vermicompost'),
      layers('forage', 'Brachiaria brizantha', 'Brachiaria decumbens', 'Lablab purpureus'),
    ],
  },
  PRODUCTS.list,
  textsIn().words,
)

describe('a message', () => {
  test.each([
    ['WHEAT FICHE', { crop: 'wheat' }, 'FICHE', null],
    ['sinde fiche, oromia', { crop: 'wheat' }, 'fiche, oromia', null],
    ['Fiche Oromia  Wheat', { crop: 'wheat' }, 'Fiche Oromia', null],
    ['UREA 9.5 38.5 10 TIMAD', { products: ['fertilizer'], input: 'Urea' }, '9.5 38.5', '10 TIMAD'],
    ['dap 9.5,38.5 2,5ha', { products: ['fertilizer'], input: 'DAP' }, '9.5,38.5', '2.5 ha'],
    ['FERT 6GCRMQ2F', { products: ['fertilizer'] }, '6GCRMQ2F', null],
    ['fertilizer: fiche', { products: ['fertilizer'] }, 'fiche', null],
    ['brachiaria brizantha meru', { products: ['forage'], input: 'Brachiaria brizantha' }, 'meru', null],
    ['brachiaria meru', { products: ['forage'] }, 'meru', null],
    ['organic inputs fiche 3 acres', { products: ['isfm'] }, 'fiche', '3 acre'],
    ['yield', { products: ['yield'] }, '', null],
    ['FERT WHEAT FICHE', { products: ['fertilizer'], crop: 'wheat' }, 'FICHE', null],
    ['wheat fert fiche', { products: ['fertilizer'], crop: 'wheat' }, 'fiche', null],
    ['wheat fiche urea 2 ha', { products: ['fertilizer'], input: 'Urea', crop: 'wheat' }, 'fiche', '2 ha'],
    ['10 TIMAD UREA 9.5 38.5', { products: ['fertilizer'], input: 'Urea' }, '9.5 38.5', '10 TIMAD'],
    ['UREA 10 timad, fiche', { products: ['fertilizer'], input: 'Urea' }, 'fiche', '10 timad'],
    ['UREA FICHE 1/2 HA', { products: ['fertilizer'], input: 'Urea' }, 'FICHE', '0.5 HA'],
    ['WHEAT/FICHE', { crop: 'wheat' }, 'FICHE', null],
    ['sweet potato fiche', { crop: 'sweet-potato' }, 'fiche', null],
    ['YIELD -1.95 30.06', { products: ['yield'] }, '-1.95 30.06', null],
    ['yield - fiche', { products: ['yield'] }, 'fiche', null],
    ['-1.95 30.06 yield', { products: ['yield'] }, '-1.95 30.06', null],
    ['YIELD N9.5 E38.5', { products: ['yield'] }, 'N9.5 E38.5', null],
    ['Yield “Fiche”', { products: ['yield'] }, 'Fiche', null],
    ['🌾 Yield Fiche 🙏🏾', { products: ['yield'] }, 'Fiche', null],
    ['ｙｉｅｌｄ Ｆｉｃｈｅ', { products: ['yield'] }, 'Fiche', null],
    ['urea dap fiche', { products: ['fertilizer'], input: 'Urea' }, 'dap fiche', null],
  ])('"%s" asks about %o', (text, subject, place, area) => {
    const parsed = question(text)
    expect(parsed.subject).toMatchObject(subject)
    expect([parsed.place, parsed.area]).toEqual([place, area])
  })

  test.each([
    ['help', { kind: 'help' }],
    ['  HELP!! ', { kind: 'help' }],
    ['/start', { kind: 'start' }],
    ['Stop.', { kind: 'stop' }],
    ['stop it now', { kind: 'stop' }],
    ['"STOP"', { kind: 'stop' }],
    ['please stop', { kind: 'stop' }],
    ['Stop 🙏', { kind: 'stop' }],
    ['🛑STOP🛑', { kind: 'stop' }],
    ['“Stop”', { kind: 'stop' }],
    ['«stop»…', { kind: 'stop' }],
    ['ＳＴＯＰ', { kind: 'stop' }],
    ['S.T.O.P.', { kind: 'stop' }],
    ['\u200bstop\u00a0', { kind: 'stop' }],
    ['stop ⟶ አቁም', { kind: 'stop' }],
    ['-STOP-', { kind: 'stop' }],
    ['¡stop!', { kind: 'stop' }],
    ['1 👍🏾', { kind: 'choice', number: 1 }],
    ['more', { kind: 'more' }],
    ['2', { kind: 'choice', number: 2 }],
    ['k7 1', { kind: 'feedback', code: 'K7', number: 1, unit: null }],
    ['K7: 3200', { kind: 'feedback', code: 'K7', number: 3200, unit: null }],
    ['K7 32,5 Q', { kind: 'feedback', code: 'K7', number: 32.5, unit: 'q' }],
    ['k7 3.2 t/ha', { kind: 'feedback', code: 'K7', number: 3.2, unit: 't' }],
    ['K7 3,200', { kind: 'feedback', code: 'K7', number: 3200, unit: null }],
    ['K7 3.2 q', { kind: 'feedback', code: 'K7', number: 3.2, unit: 'q' }],
    ['K7 good', { kind: 'feedback', code: 'K7', number: Number.NaN, unit: null }],
    ['K7-3200 kg', { kind: 'feedback', code: 'K7', number: 3200, unit: 'kg' }],
  ])('"%s" is %o', (text, expected) => {
    expect(parse(text)).toEqual(expected)
  })

  test('STOP of English stops in a language that has given the word another meaning', () => {
    const words = { ...textsIn().words, help: ['stop'], stop: ['qum'] }
    const own = createVocabulary({ countries: [], cropAliases: [], published: [] }, PRODUCTS.list, words)
    expect(['STOP', 'qum', 'help'].map((text) => parseMessage(text, own).kind)).toEqual([
      'stop',
      'stop',
      'help',
    ])
  })

  test('with one wrong letter in its word is a guess, and asks about the same', () => {
    const words = [...vocabulary.subjects.keys()].filter((word) => word.length > 4 && !word.includes(' '))
    const slip = fc.record({
      word: fc.constantFrom(...words),
      at: fc.nat(),
      letter: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'),
      kind: fc.constantFrom('added', 'dropped', 'changed', 'exchanged'),
    })
    fc.assert(
      fc.property(slip, ({ word, at: any, letter, kind }) => {
        const at = any % (word.length - 1)
        const [before, one, two, after] = [word.slice(0, at), word[at], word[at + 1], word.slice(at + 2)]
        const text = {
          added: `${before}${letter}${one}${two}${after}`,
          dropped: `${before}${two}${after}`,
          changed: `${before}${letter}${two}${after}`,
          exchanged: `${before}${two}${one}${after}`,
        }[kind]
        const { subject, guess } = question(`${text} zzzz`)
        const meant = vocabulary.subjects.get(word)
        // A slip may make another word of the catalogue, or come nearer to one.
        if (subject ?? (guess?.subject !== meant && guess?.subject)) return
        expect(guess).toEqual({ subject: meant, place: 'zzzz' })
      }),
      { numRuns: 2000 },
    )
  })

  test('of any characters is read at once, and is no error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 1000 }), (text) => {
        expect(parse(text.toWellFormed()).kind).toBeTypeOf('string')
      }),
      { numRuns: 2000 },
    )
  })
})

const parse = (text: string) => parseMessage(text, vocabulary)
const question = (text: string) => {
  const parsed = parse(text)
  if (parsed.kind !== 'question') throw new Error(`${text} is ${parsed.kind}`)
  return parsed
}
