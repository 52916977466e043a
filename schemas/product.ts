import type { TSchema } from 'typebox'
import * as t from './common.ts'

interface Member {
  key: string
  description: string
}

export type ExampleEntry = Record<string, string | number | object>

/** How a product is called in sentences. */
interface ProductNames {
  /** Begins the summaries of its operations: "Fertilizer rates" at a point. */
  title: string
  /** The same at many points, where it differs. */
  titleOfMany?: string
  /** Among the others: "yield, fertilizer, organic inputs and forage". */
  subject: string
  /** What the service gives with it: "fertilizer rates". */
  advice: string
  /** What a release has or lacks: "fertilizer recommendations". */
  values: string
}

/** A place that the documents ask about. */
interface ExamplePlace {
  id: string
  name: string
  lat: number
  lng: number
  country_code: string
  country: string
  /** A point in another country. */
  elsewhere: { lat: number; lng: number; country: string }
  /** The code of an administrative area of the country. */
  area: string
}

/** What the wire contract says of a product: the schemas of its operations are made from it. */
export interface ProductContract {
  /** In paths and in the codes of releases, and wherever else programs name the product. */
  code: string
  names: ProductNames
  /** The unit of the answers; rasters in another one are scaled. */
  unit: string
  /** Whether it is published for a crop, a month and scenarios. */
  seasonal: boolean
  entries: string
  value: { key: string; schema: TSchema }
  /** The input that is applied or grown; null where layers differ in their scenario alone. */
  input: Member | null
  /** What the mean comes to on the covered area of a polygon; null where that makes no sense. */
  total: Member | null
  /** What of it can be observed in the field, at least 0; null for nothing. */
  observed: (Member & { maximum: number; example?: number }) | null
  /** What the operations for a point and for a polygon say of themselves. */
  descriptions: { point: string; polygon: string }
  examples: {
    point: ExampleEntry[]
    /** Members of the answer for a point behind its entries. */
    behindPoint?: Record<string, unknown>
    polygon?: ExampleEntry[]
    /** Where products without seasons are asked about; the others have a field. */
    place?: ExamplePlace
  }
}

const FIELD: ExamplePlace = {
  id: 'field-1',
  name: 'My field',
  lat: 9.5,
  lng: 38.5,
  country_code: 'eth',
  country: 'Ethiopia',
  elsewhere: { lat: -1, lng: 36.5, country: 'Kenya' },
  area: 'ETH-01',
}

export function examplePlaceOf({ examples }: ProductContract): ExamplePlace {
  return examples.place ?? FIELD
}

/** Begins the names of the product's components: "Fertilizer". */
export function componentOf({ code }: ProductContract): string {
  return `${code.charAt(0).toUpperCase()}${code.slice(1)}`
}

/** What a request of its own says of a product. */
export function describeRequest(product: ProductContract): string {
  return `${componentOf(product)} ${product.seasonal ? 'has no quantities' : 'needs no crop'}; fields that are not listed are ignored`
}

export function productSchema(products: readonly ProductContract[], description: string) {
  return t.oneOf(
    products.map(({ code }) => code),
    description,
  )
}

/** What calls were about: a product, or all of them in one call. */
export function recordedProductSchema(products: readonly ProductContract[], description: string) {
  return t.oneOf([...products.map(({ code }) => code), ALL_PRODUCTS], description)
}

/** Stands for all products in one call; no product has it as its code. */
export const ALL_PRODUCTS = 'all'

/** Names as a sentence lists them: "yield, fertilizer and forage". */
export function joinNames(names: readonly string[], conjunction = ' and'): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')}${conjunction} ${last}`
}

/** A sentence on the products without seasons; empty where there are none. */
export function ofSeasonless(
  products: readonly ProductContract[],
  say: (names: string, needs: 'need' | 'needs') => string,
): string {
  const names = products.filter(({ seasonal }) => !seasonal).map(({ names }) => names.subject)
  return names.length === 0 ? '' : say(joinNames(names), names.length === 1 ? 'needs' : 'need')
}
