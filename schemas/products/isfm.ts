import { number } from '../common.ts'
import { defineProduct } from './define.ts'

/** Integrated soil fertility management. */
export const isfm = defineProduct({
  code: 'isfm',
  names: {
    title: 'Organic inputs (ISFM)',
    subject: 'organic inputs',
    advice: 'organic inputs (ISFM)',
    values: 'ISFM recommendations',
  },
  seasonal: true,
  unit: 't/ha',
  // Handbooks of ISFM recommend 2 to 20 t/ha; heavy dressings of manure have 40.
  plausible: { minimum: 0, maximum: 200, largestFrom: 0.1, meanTo: 40 },
  decimals: 3,
  entries: 'isfm_data',
  value: {
    key: 'rate_tons_ha',
    schema: number('The recommended rate, in metric tons per hectare. 0 is a recommendation, too.'),
  },
  input: {
    key: 'isfm_type',
    description: 'For example `Compost` or `Vermicompost`.',
    names: 'an organic input, such as Compost',
  },
  total: {
    key: 'total_tons',
    description: 'Metric tons for the covered area: the mean times its hectares.',
  },
  observed: {
    key: 'rate_tons_ha',
    maximum: 1000,
    description: 'Organic input applied, in metric tons per hectare.',
  },
  descriptions: {
    point:
      'The organic inputs that integrated soil fertility management recommends, in metric tons per hectare, one entry an input and scenario.',
    polygon: 'The recommended organic inputs in a field or a district, and their totals.',
  },
  examples: {
    point: [{ isfm_type: 'Compost', scenario: 'Normal', rate_tons_ha: 5.2 }],
    polygon: [
      {
        isfm_type: 'Compost',
        scenario: 'Normal',
        rate_tons_ha: 4.905,
        min: 4.6,
        max: 5.1,
        stddev: 0.138,
        covered_percent: 100,
        total_tons: 58369,
      },
    ],
  },
})
