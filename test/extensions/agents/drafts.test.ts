import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { fitAnswer, MOST_BYTES, Room } from '#src/extensions/agents/answer.ts'
import { groupValues } from '#src/extensions/agents/sections.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 400 })

test('an answer is short whatever others have written in it, and says how much it has left out', () => {
  const origin = fc.record({ of: fc.string({ maxLength: 100 }), source: text, licence: text })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 300 }), fc.array(origin, { maxLength: 8 }), (names, origins) => {
      const { content, text } = fitAnswer((room) => ({
        names: room.list(names).map((name) => room.text(name)),
        sources: origins,
      }))
      expect(Buffer.byteLength(text)).toBeLessThan(MOST_BYTES)
      expect(JSON.parse(text)).toEqual(content)
      const { names: said, left_out = 0 } = content as { names: string[]; left_out?: number }
      expect(said.length + left_out).toBe(names.length)
    }),
    { numRuns: 60 },
  )
})

test('a text is cut between characters', () => {
  expect(new Room(100).text('🌾'.repeat(161))).toBe(`${'🌾'.repeat(159)}…`)
})

test('values are named by what a source calls its layers, whatever that is', () => {
  const entries = [
    { fertilizer_type: '__proto__', scenario: 'constructor', rate_kg_ha: 1 },
    { fertilizer_type: 'Urea', scenario: null, rate_kg_ha: 0 },
  ]
  expect(JSON.stringify(groupValues(PRODUCTS.of('fertilizer'), entries))).toBe(
    '{"__proto__":{"constructor":1},"Urea":{"any":0}}',
  )
})
