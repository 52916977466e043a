import type { OpenAPIV3_1 } from 'openapi-types'

/**
 * The documents for one purpose, beside the whole one: each has the operations whose paths match. Every
 * operation is in one of them.
 */
export const DOCUMENT_PARTS = {
  points: {
    title: 'Points: advice for one place or many, and the catalog',
    paths: /^\/(advisory\/(\w+\/)?points?|catalog|validate_location)$/,
  },
  fields: {
    title: 'Fields: advice for polygons and areas, coverage and subscriptions',
    paths: /^\/(advisory\/\w+(\/polygons)?|admin|coverage|subscriptions.*)$/,
  },
  account: {
    title: 'Account: logins, keys, profile and history',
    paths: /^\/(auth|user|history|cite)\/.*$/,
  },
  operations: {
    title: 'Operations: releases, maps, STAC, changes, statistics and health',
    paths: /^\/((releases|changes|stac|stats|health)\b.*)?$/,
  },
} as const

export type DocumentPart = keyof typeof DOCUMENT_PARTS

/** The part that a path is in. A path of two parts is in the first of them. */
export function partOf(path: string): DocumentPart | undefined {
  const parts = Object.entries(DOCUMENT_PARTS) as [DocumentPart, { paths: RegExp }][]
  return parts.find(([, { paths }]) => paths.test(path))?.[0]
}

/** A document with the operations of one part, and the tags that they have. */
export function withPaths(document: OpenAPIV3_1.Document, part: DocumentPart): OpenAPIV3_1.Document {
  const paths = Object.fromEntries(
    Object.entries(document.paths ?? {}).filter(([path]) => partOf(path) === part),
  )
  const used = new Set(Object.values(paths).flatMap((path) => Object.values(path ?? {}).flatMap(tagsOf)))
  const { title } = document.info
  return {
    ...document,
    info: { ...document.info, title: `${title}. ${DOCUMENT_PARTS[part].title}` },
    paths,
    tags: document.tags?.filter(({ name }) => used.has(name)) ?? [],
  }
}

function tagsOf(operation: unknown): string[] {
  return (operation as { tags?: string[] }).tags ?? []
}
