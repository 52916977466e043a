import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fertilizer } from '#schemas/products/fertilizer.ts'
import { composeText } from '#src/extensions/texts/compose.ts'
import { textsIn } from '#src/extensions/texts/languages.ts'
import { countSegments } from '#src/extensions/texts/segments.ts'

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
      // Numbers are whole from ten on, and have two digits below.
      const asWritten = (_: string, value: unknown) =>
        typeof value === 'number' ? `${value} ${Math.round(value)} ${Number(value.toPrecision(2))}` : value
      const known = JSON.stringify(sent, asWritten).replaceAll(/\s+/gu, ' ')
      for (const [number] of text.replace('Jul 2026', '').matchAll(/\d+(\.\d+)?/g))
        expect(known).toContain(number)
      const whole = composeText([fertilizer], sent, textsIn(), 100)
      if (countSegments(whole) <= segments) expect(text).toBe(whole)
    }),
    { numRuns: 100 },
  )
})
