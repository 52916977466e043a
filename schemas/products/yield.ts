import { number } from '../common.ts'
import { EXPECTED } from '../glossary.ts'
import { defineProduct } from './define.ts'

export const yieldPrediction = defineProduct({
  code: 'yield',
  names: {
    title: 'Predicted yield',
    titleOfMany: 'Predicted yields',
    subject: 'yield',
    advice: 'yield predictions',
    values: 'yield predictions',
  },
  seasonal: true,
  unit: 'kg/ha',
  // No crop in t/ha reaches 200: sugar cane, the heaviest, has 120 where it yields most (FAOSTAT).
  plausible: { minimum: 0, maximum: 100_000, largestFrom: 200 },
  decimals: 2,
  entries: 'yield_data',
  value: {
    key: 'yield_kg_ha',
    schema: number('The predicted yield, in kilograms per hectare.'),
  },
  input: null,
  total: null,
  observed: {
    key: 'yield_kg_ha',
    maximum: 200_000,
    description: 'The harvest, in kg/ha.',
    example: 3100,
  },
  descriptions: {
    point: 'The yield that the newest forecast predicts, in kilograms per hectare, one entry a scenario.',
    polygon: 'The yield that the newest forecast predicts for a field or a district.',
  },
  examples: {
    point: [
      {
        scenario: 'Above Normal',
        yield_kg_ha: 4783,
        probability: 0.36,
        range: { low: 3896, high: 5492, level: 0.8 },
      },
      {
        scenario: 'Normal',
        yield_kg_ha: 4229,
        probability: 0.39,
        range: { low: 3445, high: 4856, level: 0.8 },
      },
      {
        scenario: 'Below Normal',
        yield_kg_ha: 3490,
        probability: 0.25,
        range: { low: 2843, high: 4008, level: 0.8 },
      },
      { scenario: 'Dominant', yield_kg_ha: 4229, scenario_of: 'Normal' },
    ],
    behindPoint: { expected: [{ scenario: EXPECTED, yield_kg_ha: 4243.69 }] },
    polygon: [
      {
        scenario: 'Normal',
        yield_kg_ha: 4414.8,
        min: 4358,
        max: 4458,
        stddev: 40.35,
        covered_percent: 100,
        probability: 0.44,
        range: { low: 3594.78, high: 5070.51, level: 0.8 },
      },
    ],
  },
})
