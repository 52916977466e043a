import { createHash } from 'node:crypto'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { Products } from '#src/products/define.ts'
import type { SharedItem } from './share-queries.ts'

/** How everybody can see that an answer is what its releases say. */
export interface Verification {
  method: 'POST'
  url: string
  body: Record<string, unknown>
  token: boolean
  sha256: string
}

/**
 * An item of a history as everybody may see it.
 *
 * @param root of the service's addresses, without a slash at the end
 */
export function citationOf(shared: SharedItem, root: string, products: Products) {
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
    verify: verificationOf(shared, root, products),
  }
}

export type Citation = ReturnType<typeof citationOf>

/** Where what is shared under a token is found. */
export function addressOf(root: string, token: string): string {
  return `${root}/cite/${token}`
}

/** The command that compares the sum of the answer with the one that is told. */
export function commandOf({ url, body, token }: Verification): string {
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''")
  const authorization = token ? ' \\\n  -H \'Prefer: history=none\' -H "Authorization: Bearer $TOKEN"' : ''
  return `curl -s '${url}' -H 'Content-Type: application/json'${authorization} \\\n  -d '${quoted}' | sha256sum`
}

function verificationOf(
  { kind, product, codes, request, answer }: SharedItem,
  root: string,
  { list }: Products,
): Verification | null {
  const ofAll = product === ALL_PRODUCTS
  // The reasons of those that had no value are about what was published then.
  if (ofAll && codes.length < list.length) return null
  // What products are made of is what operators know today.
  if (request.nutrients === true || request.nutrients === 'true') return null
  const path = ofAll ? 'point' : kind === 'point' ? `${product}/point` : product
  return {
    method: 'POST',
    url: `${root}/advisory/${path}`,
    body: { ...request, release: codes.join(', ') },
    token: kind === 'polygon',
    sha256: createHash('sha256')
      .update(JSON.stringify(withoutAge(answer)))
      .digest('hex'),
  }
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
