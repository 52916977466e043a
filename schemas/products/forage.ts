import { number } from '../common.ts'
import { defineProduct } from './define.ts'

export const forage = defineProduct({
  code: 'forage',
  names: {
    title: 'Forage suitability',
    subject: 'forage',
    advice: 'forage suitability',
    values: 'forage suitability scores',
  },
  seasonal: false,
  unit: 'score',
  plausible: { minimum: 0, maximum: 100 },
  decimals: 4,
  entries: 'forage_data',
  value: {
    key: 'suitability_score',
    schema: number(
      'How well the species suits the place: higher is more suitable. The ends of the scale are as published by the source; `range` in `GET /catalog` says between which values a release lies.',
    ),
  },
  input: { key: 'forage_variety', description: 'The species.', names: 'a forage species' },
  total: null,
  observed: null,
  descriptions: {
    point: 'How well forage species suit the place, one entry a species. Needs no crop.',
    polygon: 'How well forage species suit a field or a district. Needs no crop.',
  },
  examples: {
    point: [{ forage_variety: 'Chloris gayana', suitability_score: 0.469 }],
    polygon: [
      {
        forage_variety: 'Chloris gayana',
        suitability_score: 0.2467,
        min: 0.203,
        max: 0.267,
        stddev: 0.016,
        covered_percent: 100,
      },
    ],
    place: {
      id: 'pasture-1',
      name: 'My pasture',
      lat: -1,
      lng: 36.5,
      country_code: 'ken',
      country: 'Kenya',
      elsewhere: { lat: 9.5, lng: 38.5, country: 'Ethiopia' },
      area: 'KEN-01',
    },
  },
})
