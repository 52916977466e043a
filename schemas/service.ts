import { Type } from 'typebox'

export const ServiceLinks = Type.Object(
  {
    name: Type.String(),
    docs: Type.String({ description: 'Swagger UI.' }),
    openapi: Type.String({ description: 'The OpenAPI document.' }),
    catalog: Type.String({ description: 'What is published.' }),
  },
  { $id: 'ServiceLinks' },
)

export const Health = Type.Object(
  { status: Type.Literal('ok', { description: 'Always `ok`; anything else is an error.' }) },
  { $id: 'Health' },
)

export const serviceSchemas = [ServiceLinks, Health]
