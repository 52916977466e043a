import { describe, expect, test } from 'vitest'
import { defineProduct, defineProducts, type ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { lime } from './lime.ts'

describe('products that cannot be told apart', () => {
  test.each([
    ['code', { code: 'yield', entries: 'x', observed: null }],
    ['entries', { entries: 'isfm_data' }],
    ['observed value', { observed: { ...lime.observed, key: 'yield_kg_ha' } }],
  ])('by their %s are refused', (_, changes) => {
    const product = defineProduct({ ...lime, ...changes } as ProductDefinition)
    expect(() => defineProducts([...PRODUCTS.list, product])).toThrow(/^two products have /)
  })

  test.each([
    [{ code: 'all' }, 'the product all cannot have this code'],
    [{ code: 'point' }, 'the product point cannot have this code'],
    [{ code: 'location' }, 'the product location cannot have this code'],
    [{ value: { ...lime.value, key: 'min' } }, 'the product lime cannot have the key min twice'],
    [{ total: { key: lime.value.key, description: '' } }, 'the product lime cannot have the key'],
    [{ code: 'Lime-1' }, 'the product Lime-1 cannot have this code'],
    [{ decimals: 11 }, 'the product lime must have 0 to 10 decimals'],
    [{ plausible: { minimum: 1, maximum: 1 } }, 'the product lime must have plausible values'],
    [{ seasonal: false, input: null }, 'the product lime has nothing to distinguish its layers'],
  ])('%j is no product', (changes, message) => {
    expect(() => defineProduct({ ...lime, ...changes })).toThrow(message)
  })
})
