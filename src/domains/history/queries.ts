import type { Product } from '#schemas/common.ts'

/** An advisory that a signed-in caller was given: what was asked, and what was answered. */
export interface AdvisoryRecord {
  userId: string
  /** `all` where one call answered for every product. */
  product: Product | 'all'
  kind: 'point' | 'polygon'
  countryCode: string
  /** Null for forage. */
  cropCode: string | null
  /** The codes of the releases that answered. */
  releases: string[]
  request: object
  answer: object
}

/** Keeps an advisory in its caller's history; answers with its public id once it is kept. */
export type KeepAdvisory = (record: AdvisoryRecord) => Promise<string>
