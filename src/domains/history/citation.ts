import { createHash } from 'node:crypto'
import { reasonOfUnnamed } from '#schemas/all-products.ts'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { ProductDefinition, Products } from '#src/products/define.ts'
import type { SharedItem } from './share-queries.ts'

/** How everybody can see that an answer is what its releases say. */
export interface Verification {
  method: 'POST'
  url: string
  /** Those that the bytes of the answer depend on. */
  headers: Record<string, string>
  body: Record<string, unknown>
  token: boolean
  sha256: string
}

/** Whether the request of an item is taken, with its releases named: a version before may have answered what is refused now. */
export type StillTaken = (item: SharedItem) => Promise<boolean>

/**
 * An item of a history as everybody may see it.
 *
 * @param root of the service's addresses, without a slash at the end
 * @param isTaken whether its request is still taken
 */
export function citationOf(shared: SharedItem, root: string, products: Products, isTaken: boolean) {
  const { token, shared_at, answered_at, kind, product, releases, request, answer } = shared
  return {
    id: token,
    url: addressOf(root, token),
    shared_at,
    answered_at,
    kind,
    product,
    releases,
    request,
    answer,
    verify: isTaken ? verificationOf(shared, root, products) : null,
  }
}

export type Citation = ReturnType<typeof citationOf>

/** Where what is shared under a token is found. */
export function addressOf(root: string, token: string): string {
  return `${root}/cite/${token}`
}

/** The command that compares the sum of the answer with the one that is told. */
export function commandOf({ url, headers, body, token }: Verification): string {
  const sent = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  const authorization = token ? ' \\\n  -H "Authorization: Bearer $TOKEN"' : ''
  return `curl -s ${quoted(url)} ${sent.join(' ')}${authorization} \\\n  -d ${quoted(JSON.stringify(body))} | sha256sum`
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function verificationOf(
  { kind, product, codes, request, answer }: SharedItem,
  root: string,
  { list }: Products,
): Verification | null {
  const ofAll = product === ALL_PRODUCTS
  // What products are made of is what operators know today.
  if (request.nutrients === true || request.nutrients === 'true') return null
  const path = ofAll ? 'point' : kind === 'point' ? `${product}/point` : product
  return {
    method: 'POST',
    url: `${root}/advisory/${path}`,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      // An answer that is kept says under which id.
      Prefer: 'history=none',
    },
    body: { ...request, release: codes.join(', ') },
    token: kind === 'polygon',
    sha256: createHash('sha256')
      .update(JSON.stringify(withoutAge(ofAll ? withoutReasons(answer, list) : answer)))
      .digest('hex'),
  }
}

/** Why a product had no value was about what was published then: a request that names releases is told that it names none. */
function withoutReasons(answer: Record<string, unknown>, list: readonly ProductDefinition[]) {
  const without = list.filter(({ code, entries }) => {
    const section = answer[code] as Record<string, unknown> | undefined
    return section?.[entries] === null
  })
  const told = without.map((product) => [
    product.code,
    { [product.entries]: null, ...reasonOfUnnamed(product) },
  ])
  // Members that are there already stay in their places.
  return { ...answer, ...Object.fromEntries(told) }
}

/** A release that is named does not say that its season is over. */
function withoutAge(answer: Record<string, unknown>): Record<string, unknown> {
  const { stale: _, ...rest } = answer
  return Object.fromEntries(
    Object.entries(rest).map(([name, part]) => {
      if (typeof part !== 'object' || part === null || !('stale' in part)) return [name, part]
      const { stale: __, ...section } = part as Record<string, unknown>
      return [name, section]
    }),
  )
}
