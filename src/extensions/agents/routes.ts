import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { joinNames } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import { ApiError } from '#src/errors.ts'
import type { RegionParts } from '#src/extensions/places/advise.ts'
import type { App } from '#src/http/app.ts'
import { validationError } from '#src/http/parameters.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { isObject } from '#src/lib/json.ts'
import { findSimilarName } from '#src/lib/names.ts'
import { VERSION } from '#src/lib/version.ts'
import { type Draft, fitAnswer, formatFailure, type ToolCall } from './answer.ts'
import { createExchange, type Sdk } from './exchange.ts'
import { createOperations } from './operations.ts'
import { defineInputs, type ToolName } from './schemas.ts'
import { TOOLS } from './tools.ts'

/** Keywords that agents do not need, or their hosts do not know. */
const UNLISTED = ['format', 'examples', 'documentedAs', '$id', 'minLength', 'maxLength', 'pattern']

function shorten(schema: TObject): Parameters<Sdk['fromJsonSchema']>[0] {
  const text = JSON.stringify(schema, (name, value) => (UNLISTED.includes(name) ? undefined : value))
  return { ...JSON.parse(text), type: 'object' }
}

const describeService = (products: readonly ProductDefinition[]) =>
  `Agricultural advice from published rasters: ${joinNames(products.map(({ names }) => names.subject))} at places in some African countries (catalogue has them). Values are those of the pixel that a point lies in, never guessed. Give the unit, the scenario, the forecast month, the source and the licence with each value, and say where data are synthetic (made by a formula: not advice) or stale (their season is over). left_out counts what an answer has no room for: ask for less. There is no weather, price, pest or planting date here.`

/** Tools change nothing, and read the published releases alone. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: false }

/** Makes a server for each request: servers have no state. */
function serverFactory(
  { McpServer, fromJsonSchema }: Sdk,
  products: readonly ProductDefinition[],
  operationsFor: ReturnType<typeof createOperations>,
) {
  const instructions = describeService(products)
  const tools = Object.entries(defineInputs(products)).map(([name, input]) => {
    const { title, description, run } = TOOLS[name as ToolName]
    const config = {
      title,
      description: typeof description === 'string' ? description : description(products),
      // `answerCall` validates input, with the service's messages. Schemas of answers were 5 of the 12 kB that every
      // agent reads first, and an answer names its members itself.
      inputSchema: fromJsonSchema(shorten(input), ACCEPT_ALL),
      annotations: ANNOTATIONS,
    }
    const handle = (sent: unknown, call: ToolCall) =>
      answerCall(sent, call, () =>
        run(validateInput(name, input, sent, call) as never, operationsFor(call), products),
      )
    return { name, config, handle }
  })

  return (call: ToolCall): McpServer => {
    const server = new McpServer(
      { name: 'agro-advisory', title: SERVICE_NAME, version: VERSION },
      { instructions, capabilities: { tools: { listChanged: false } } },
    )
    for (const { name, config, handle } of tools) {
      server.registerTool(name, config, (sent: unknown) => handle(sent, call))
    }
    return server
  }
}

const ACCEPT_ALL: NonNullable<Parameters<Sdk['fromJsonSchema']>[1]> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
}

async function answerCall(
  sent: unknown,
  call: ToolCall,
  makeDraft: () => Promise<Draft>,
): Promise<CallToolResult> {
  try {
    const { content, text } = fitAnswer(await makeDraft())
    return { content: [{ type: 'text', text }], structuredContent: content as Record<string, unknown> }
  } catch (error) {
    const text = formatFailure(error, isObject(sent) ? sent : {}, call)
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/** Null counts as left out. @throws {ApiError} INVALID_PARAMETERS, also for an argument that the tool does not have */
function validateInput(tool: string, schema: TObject, input: unknown, { request }: ToolCall): object {
  const names = Object.keys(schema.properties)
  const sent = Object.entries(isObject(input) ? input : {}).filter(([, value]) => (value ?? null) !== null)
  const unknown = sent.flatMap(([field]) => {
    if (names.includes(field)) return []
    const former = request.server.additions.former.find(({ name }) => name === field)
    if (former) return [{ field, message: `${field} ${former.rule}` }]
    const meant = findSimilarName(field, names)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    return [{ field, message: `${field} is not an argument of ${tool}${hint}`, allowed: names }]
  })
  if (unknown.length > 0) {
    const sentence = unknown.map(({ message }) => message).join('; ')
    throw new ApiError('INVALID_PARAMETERS', `${sentence}.`, unknown)
  }
  const fields = Object.fromEntries(sent)
  const validate = request.compileValidationSchema(schema)
  if (!validate(fields)) throw validationError(validate.errors ?? [], fields)
  return fields
}

/** A polygon of some 1,500 vertices, more than an agent will ever write. */
const BODY_LIMIT_BYTES = 65_536

/** JSON-RPC 2.0, section 5.1. */
const INVALID_REQUEST = -32_600

/** The Model Context Protocol over HTTP. The document leaves it out: `tools/list` describes the tools. */
export async function mcp(app: App, core: RegionParts): Promise<void> {
  const operationsFor = createOperations(app, core)
  let answer: ReturnType<typeof createExchange> | undefined

  app.post(
    '',
    {
      config: { public: true, scope: 'advisory', takesOwnPermit: true, onlyReads: true },
      schema: { hide: true },
      bodyLimit: Math.min(BODY_LIMIT_BYTES, app.config.BODY_LIMIT_BYTES),
      onRequest: async (request) => refuseOtherOrigins(app, request),
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const message = request.body
      if (!isObject(message)) return refuse(reply)
      // Reading a message takes one to ten milliseconds: points go first.
      await request.exchange.nextSlice(createClientSignal(reply))
      // It takes a fifth of a second and 27 MB, which services without agents save.
      const sdk = await import('@modelcontextprotocol/server')
      answer ??= createExchange(sdk, serverFactory(sdk, app.products.list, operationsFor), app.logFailure)
      const response = await answer(message, { request, reply })
      reply.code(response.status)
      const type = response.headers.get('content-type')
      if (type !== null) reply.type(type)
      return reply.send(await response.text())
    },
  )
}

/** Refuses pages of other origins (DNS rebinding). Other clients send no Origin. */
function refuseOtherOrigins({ config }: App, { headers: { origin } }: FastifyRequest): void {
  const { CORS_ORIGINS: origins } = config
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return
  throw new ApiError(
    'FORBIDDEN',
    'Pages of this origin may not ask here; the operator says which may, by CORS_ORIGINS.',
  )
}

function refuse(reply: FastifyReply): FastifyReply {
  const message = 'The body must be one message of JSON-RPC, an object: batches are not taken.'
  return reply.code(400).send({ jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null })
}
