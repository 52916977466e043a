import { Type } from 'typebox'

export const ServiceLinks = Type.Object(
  {
    name: Type.String({ examples: ['Agricultural advisory service'] }),
    docs: Type.String({ description: 'Swagger UI.', examples: ['/docs'] }),
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
