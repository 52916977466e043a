import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import { countSegments } from '#src/extensions/texts/segments.ts'

describe('how many segments a text takes', () => {
  test.each([
    ['', 1],
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(306), 2],
    ['a'.repeat(307), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    // One that takes two units is not divided: 152 and 153 of the units are used.
    [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
    ['ä'.repeat(160), 1],
    ['ሀ'.repeat(70), 1],
    ['ሀ'.repeat(71), 2],
    ['ሀ'.repeat(134), 2],
    ['ሀ'.repeat(135), 3],
    ['😀'.repeat(35), 1],
    ['😀'.repeat(36), 2],
    // 67 units hold 33 pairs, and one is left over in each.
    ['😀'.repeat(66), 2],
    ['😀'.repeat(67), 3],
    [`${'a'.repeat(70)}ç`, 2],
  ])('%j takes %d', (text, segments) => {
    expect(countSegments(text)).toBe(segments)
  })
})

/** The segments that another program counts. An empty message is one. */
const countElsewhere = (text: string) => new SegmentedMessage(text, 'auto', false).segmentsCount

const inGsm7 = fc.constantFrom(...'@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !¤A1z\n^{}\\[~]|€')
/** They combine with no other: characters of one code unit, and of two. */
const inUcs2 = fc.constantFrom(...'ሀጤçАя中ก', '😀', '𝒳')
const texts = fc.oneof(
  fc.array(inGsm7, { maxLength: 700 }),
  fc.array(inUcs2, { maxLength: 300 }),
  fc.array(fc.oneof(inGsm7, inUcs2), { maxLength: 400 }),
)

test('segments are as many as another program counts', () => {
  fc.assert(
    fc.property(texts, (characters) => {
      const text = characters.join('')
      expect(countSegments(text)).toBe(countElsewhere(text))
    }),
    { numRuns: 300 },
  )
  // A line end of two characters is one to the other program, which the alphabet lacks.
  const any = fc.string({ unit: 'binary', maxLength: 165 }).filter((text) => !text.includes('\r\n'))
  fc.assert(
    fc.property(any, (text) => {
      expect(countSegments(text) === 1).toBe(countElsewhere(text) === 1)
    }),
    { numRuns: 300 },
  )
})
