import { number } from '../common.ts'
import { defineProduct } from './define.ts'

export const fertilizer = defineProduct({
  code: 'fertilizer',
  names: {
    title: 'Fertilizer rates',
    subject: 'fertilizer',
    advice: 'fertilizer rates',
    values: 'fertilizer recommendations',
  },
  seasonal: true,
  unit: 'kg/ha',
  // 20 to 60 kg/ha are a microdose (ICRISAT); 700 are above what any national table recommends of one fertilizer.
  plausible: { minimum: 0, maximum: 2000, largestFrom: 3, meanTo: 700 },
  decimals: 2,
  entries: 'fertilizer_data',
  value: {
    key: 'rate_kg_ha',
    schema: number('The recommended rate, in kilograms per hectare. 0 is a recommendation, too.'),
  },
  input: {
    key: 'fertilizer_type',
    description: 'For example `Urea` or `DAP`.',
    names: 'a fertilizer, such as Urea',
  },
  total: {
    key: 'total_kg',
    description: 'Kilograms for the covered area: the mean times its hectares.',
  },
  observed: {
    key: 'rate_kg_ha',
    maximum: 10_000,
    description: 'Inorganic fertilizer applied, in kg/ha.',
    example: 120,
  },
  descriptions: {
    point:
      'The recommended rates of inorganic fertilizers, in kilograms per hectare, one entry a fertilizer and scenario.',
    polygon: 'The recommended rates of inorganic fertilizers in a field or a district, and their totals.',
  },
  examples: {
    point: [
      { fertilizer_type: 'DAP', scenario: 'Normal', condition: 'foot slope', rate_kg_ha: 123 },
      { fertilizer_type: 'Urea', scenario: 'Normal', condition: 'foot slope', rate_kg_ha: 137 },
    ],
    behindPoint: { condition_source: 'landscape layer' },
    polygon: [
      {
        fertilizer_type: 'Urea',
        scenario: 'Normal',
        rate_kg_ha: 130.67,
        min: 121,
        max: 134,
        stddev: 3.21,
        covered_percent: 100,
        total_kg: 1555072,
        condition: 'foot slope',
      },
    ],
  },
})
