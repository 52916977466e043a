import { Type } from 'typebox'
import { defineProduct, defineProducts } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'

/** A product that the service does not have. */
export const lime = defineProduct({
  code: 'lime',
  names: {
    title: 'Lime rates',
    subject: 'lime',
    advice: 'lime rates',
    values: 'lime recommendations',
  },
  seasonal: true,
  unit: 't/ha',
  plausible: { minimum: 0, maximum: 20 },
  decimals: 3,
  entries: 'lime_data',
  value: { key: 'lime_tons_ha', schema: Type.Number({ description: 'Metric tons per hectare.' }) },
  input: {
    key: 'material',
    description: 'For example `Limestone`.',
    names: 'a liming material, such as Limestone',
  },
  total: { key: 'total_tons', description: 'Metric tons for the covered area.' },
  observed: {
    key: 'lime_tons_ha',
    maximum: 50,
    description: 'Lime applied, in metric tons per hectare.',
    example: 2,
  },
  descriptions: {
    point: 'The lime that acid soils need.',
    polygon: 'The lime that the acid soils of a field or a district need, and its total.',
  },
  examples: { point: [{ material: 'Limestone', scenario: 'Normal', lime_tons_ha: 2.5 }] },
})

/** Another one, without seasons. */
export const soil = defineProduct({
  code: 'soil',
  names: { title: 'Soil acidity', subject: 'soil', advice: 'soil acidity', values: 'soil acidities' },
  seasonal: false,
  unit: 'pH',
  plausible: { minimum: 2, maximum: 12 },
  decimals: 1,
  entries: 'soil_data',
  value: { key: 'acidity', schema: Type.Number({ description: 'pH in water.' }) },
  input: { key: 'depth', description: 'For example `0-20 cm`.', names: 'a depth, such as 0-20 cm' },
  total: null,
  observed: null,
  descriptions: { point: 'How acid the soil is.', polygon: 'How acid the soils are.' },
  examples: { point: [{ depth: '0-20 cm', acidity: 5.5 }] },
})

/** Another one, of seasons, whose values come to no amount on an area. */
const irrigation = defineProduct({
  code: 'irrigation',
  names: {
    title: 'Irrigation needs',
    subject: 'irrigation',
    advice: 'irrigation needs',
    values: 'irrigation needs',
  },
  seasonal: true,
  unit: 'mm',
  plausible: { minimum: 0, maximum: 3000 },
  decimals: 1,
  entries: 'irrigation_data',
  value: { key: 'need_mm', schema: Type.Number({ description: 'Millimetres beside the rain.' }) },
  input: null,
  total: null,
  observed: null,
  descriptions: { point: 'The water that a crop needs.', polygon: 'The water that crops need.' },
  examples: { point: [{ scenario: 'Normal', need_mm: 212.5 }] },
})

/** The products of the service, and these. */
export const WITH_LIME = defineProducts([...PRODUCTS.list, lime, soil, irrigation])
