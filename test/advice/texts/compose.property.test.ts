import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fertilizer } from '#schemas/products/fertilizer.ts'
import { composeText } from '#src/advice/texts/compose.ts'
import { textsIn } from '#src/advice/texts/languages.ts'
import { countSegments } from '#src/advice/texts/segments.ts'

describe('how many segments a text takes', () => {
  test.each([
    ['', 1],
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(306), 2],
    ['a'.repeat(307), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    // One that takes two places is not divided: 152 and 153 of the places are used.
    [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
    ['ä'.repeat(160), 1],
    ['ሀ'.repeat(70), 1],
    ['ሀ'.repeat(71), 2],
    ['ሀ'.repeat(134), 2],
    ['ሀ'.repeat(135), 3],
    ['😀'.repeat(35), 1],
    ['😀'.repeat(36), 2],
    // 67 places hold 33 pairs, and one is left over in each.
    ['😀'.repeat(66), 2],
    ['😀'.repeat(67), 3],
    [`${'a'.repeat(70)}ç`, 2],
  ])('%j takes %d', (text, segments) => {
    expect(countSegments(text)).toBe(segments)
  })
})

const label = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
const entry = fc.record({
  fertilizer_type: fc.oneof(fc.constantFrom('Urea', 'DAP'), label),
  scenario: fc.oneof(fc.constantFrom('Above Normal', 'Normal', 'Below Normal', 'Dominant'), label),
  rate_kg_ha: fc.integer({ min: 0, max: 200_000 }).map((hundredths) => hundredths / 100),
})
const body = fc.record({
  location: fc.record({ name: fc.string({ unit: 'binary', maxLength: 200 }) }),
  forecast_month: fc.constant('2026-07'),
  synthetic: fc.boolean(),
  fertilizer_data: fc.array(entry, { minLength: 1, maxLength: 10 }),
})

test('a text is never longer than it may be, and has no number that the answer does not have', () => {
  fc.assert(
    fc.property(body, fc.integer({ min: 1, max: 4 }), (sent, segments) => {
      const text = composeText([fertilizer], sent, textsIn(), segments)
      expect(countSegments(text)).toBeLessThanOrEqual(segments)
      if (sent.synthetic && text !== 'The answer does not fit into a message.')
        expect(text).toContain('Demo data, not advice.')
      const known = JSON.stringify(sent).replaceAll(/\s+/gu, ' ')
      for (const [number] of text.replace('Jul 2026', '').matchAll(/\d+(\.\d+)?/g))
        expect(known).toContain(number)
      const whole = composeText([fertilizer], sent, textsIn(), 100)
      if (countSegments(whole) <= segments) expect(text).toBe(whole)
    }),
    { numRuns: 100 },
  )
})
