import { number } from '../common.ts'
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
  plausible: { minimum: 0, maximum: 100_000 },
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
      { scenario: 'Above Normal', yield_kg_ha: 2834 },
      { scenario: 'Normal', yield_kg_ha: 2464 },
    ],
    polygon: [
      {
        scenario: 'Normal',
        yield_kg_ha: 2464.18,
        min: 2318,
        max: 2604,
        stddev: 71.52,
        covered_percent: 100,
      },
    ],
  },
})
