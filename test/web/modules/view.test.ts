import { expect, test } from 'vitest'
import { readView, writeView } from '../../../web/parts/view.ts'

test('the address says all that is shown', () => {
  const view = {
    product: 'fertilizer',
    country: 'eth',
    crop: 'wheat',
    month: '2026-07',
    input: 'Urea & more',
    scenario: 'Below Normal',
    condition: 'foot slope',
    odds: 'most-likely',
    compare: 'scenario:Above Normal',
    cut: 'equal' as const,
    opacity: 40,
    mode: 'table' as const,
    at: { lat: 9.5, lng: -38.25 },
    camera: { zoom: 6.25, lat: 9, lng: 38 },
    area: 'eth/3/KE104/2-149',
    hectares: 1.5,
  }
  expect(readView(writeView(view))).toEqual(view)
})

test.each(['', '#at=91,0&map=a,b,c&opacity=200&ha=-1&cut=x&as=y', '#at=1&map=1,2&opacity=&ha=Infinity'])(
  'what cannot be read of it is as if it was not there: %s',
  (hash) => {
    expect(writeView(readView(hash))).toBe('#')
  },
)
