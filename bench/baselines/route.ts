import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import { definePointSchemas, listPointComponents } from '#schemas/advisory.ts'
import { EntryCondition } from '#schemas/certainty.ts'
import { defineErrorCode, ErrorBody, ErrorDetail, ref } from '#schemas/common.ts'
import { NOTHING_ADDED, PointRequest } from '#schemas/point-request.ts'
import { fertilizer } from '#schemas/products/fertilizer.ts'
import { listErrorCodes } from '#src/errors.ts'
import { AJV_OPTIONS } from '#src/http/parameters.ts'

export const PATH = '/advisory/fertilizer/point'

/** What both baselines are: Fastify and the schemas of the point endpoint, without any plugin. */
export function plainFastify(): { app: FastifyInstance; schema: object } {
  const app = Fastify({ ajv: { customOptions: AJV_OPTIONS } })
  const point = definePointSchemas(fertilizer)
  const components = [
    ...listPointComponents([point], NOTHING_ADDED),
    EntryCondition,
    defineErrorCode(listErrorCodes([])),
    ErrorBody,
    ErrorDetail,
  ]
  for (const schema of components) app.addSchema(schema)
  const schema = {
    body: ref(PointRequest),
    response: { 200: ref(point.response), 404: ref(ErrorBody) },
  }
  return { app, schema }
}

/** Listens on a free port, says where, and closes on SIGTERM: what the bench expects of a server. */
export async function listenForBench(app: FastifyInstance): Promise<void> {
  process.on('SIGTERM', () => {
    void app.close().then(() => process.exit())
  })
  console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
}
