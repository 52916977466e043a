import { Type } from 'typebox'

/** What the service is called. */
export const SERVICE_NAME = 'Agricultural advisory service'

export const ServiceLinks = Type.Object(
  {
    name: Type.String({ examples: [SERVICE_NAME] }),
    docs: Type.String({
      description: 'The page on which every operation can be tried.',
      examples: ['/docs'],
    }),
    openapi: Type.String({ description: 'The OpenAPI document.', examples: ['/openapi.json'] }),
    catalog: Type.String({ description: 'What is published.', examples: ['/catalog'] }),
  },
  { $id: 'ServiceLinks' },
)

export const Health = Type.Object(
  { status: Type.Literal('ok', { description: 'Always `ok`; anything else is an error.' }) },
  { $id: 'Health' },
)

export const serviceSchemas = [ServiceLinks, Health]
