import { expect, test } from 'vitest'
import { makeOpenApiDocument } from '#src/http/openapi/document.ts'
import { makeFromRoutes } from '../../scripts/openapi.ts'

test('the document is made without a database, and has all that it refers to', async () => {
  const document = await makeFromRoutes(makeOpenApiDocument)
  expect(Object.keys(document.paths ?? {})).toContain('/advisory/point')
  const components = { ...document.components } as Record<string, Record<string, unknown>>
  const references = JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)
  const missing = [...references].filter(([, kind = '', name = '']) => !components[kind]?.[name])
  expect(missing.map(([reference]) => reference)).toEqual([])
})
