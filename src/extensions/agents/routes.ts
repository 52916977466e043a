import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { RegionParts } from '#src/advice/places/advise.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { validationError } from '#src/http/parameters.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { isObject } from '#src/lib/json.ts'
import { findSimilarName } from '#src/lib/names.ts'
import { VERSION } from '#src/lib/version.ts'
import { adviseArea, advisePoint, quantities } from './advice-tools.ts'
import { createExchange, type Exchange, type Sdk } from './exchange.ts'
import { catalogue, explainNoData, releases, whereIs } from './lookup-tools.ts'
import { fitAnswer, formatFailure, type ToolCall } from './tool.ts'
import { createToolParts, createToolServices, type Tool, type ToolServices } from './tool-services.ts'

/** Keywords that agents do not need, or their hosts do not know. */
const UNLISTED = new Set(['format', 'examples', 'documentedAs', '$id', 'minLength', 'maxLength', 'pattern'])

function shorten(schema: TSchema): unknown {
  const entries = Object.entries(schema).filter(
    ([name, value]) => !UNLISTED.has(name) && !isTrivial(name, value),
  )
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (name === 'items') return [name, shorten(value as TSchema)]
      if (name !== 'properties') return [name, value]
      const fields = Object.entries(value as Record<string, TSchema>)
      return [name, Object.fromEntries(fields.map(([field, inner]) => [field, shorten(inner)]))]
    }),
  )
}

function isTrivial(name: string, value: unknown): boolean {
  if (name === 'additionalProperties') return value === true
  return name === 'properties' && Object.keys(value as object).length === 0
}

const INSTRUCTIONS =
  'Agricultural advice from published rasters: yield, fertilizer, organic inputs and forage at places in some African countries (catalogue has them). Values are those of the pixel that a point lies in, never guessed. Give the unit, the scenario, the forecast month, the source and the licence with each value, and say where data are synthetic (made by a formula: not advice) or stale (their season is over). left_out counts what an answer has no room for: ask for less. There is no weather, price, pest or planting date here.'

/** Tools change nothing, and read the published releases alone. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: false }

/** Makes a server for each request: servers have no state. */
function serverFactory(
  { McpServer, fromJsonSchema }: Sdk,
  tools: readonly Tool[],
  servicesFor: (call: ToolCall) => ToolServices,
) {
  const registered = tools.map((tool) => ({
    tool,
    config: {
      title: tool.title,
      description: tool.description,
      // `callTool` validates input, with the service's messages. Schemas of answers were 5 of the 12 kB that every
      // agent reads first, and an answer names its members itself.
      inputSchema: fromJsonSchema({ ...(shorten(tool.input) as object), type: 'object' }, ACCEPT_ALL),
      annotations: ANNOTATIONS,
    },
  }))

  return (call: ToolCall): McpServer => {
    const server = new McpServer(
      { name: 'agro-advisory', title: SERVICE_NAME, version: VERSION },
      { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
    )
    for (const { tool, config } of registered) {
      server.registerTool(tool.name, config, (input: unknown) =>
        callTool(tool, input, call, servicesFor(call)),
      )
    }
    return server
  }
}

const ACCEPT_ALL: NonNullable<Parameters<Sdk['fromJsonSchema']>[1]> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
}

async function callTool(
  tool: Tool,
  input: unknown,
  call: ToolCall,
  services: ToolServices,
): Promise<CallToolResult> {
  try {
    const draft = await tool.run(validateInput(tool, input, call) as never, services)
    const { content, text } = fitAnswer(draft)
    return { content: [{ type: 'text', text }], structuredContent: content as Record<string, unknown> }
  } catch (error) {
    const text = formatFailure(error, isObject(input) ? input : {}, call)
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/** Null counts as left out. @throws {ApiError} INVALID_PARAMETERS */
function validateInput({ name: tool, input: schema }: Tool, input: unknown, { request }: ToolCall): object {
  const sent = isObject(input) ? input : {}
  refuseUnknown(tool, Object.keys(schema.properties), sent)
  const fields = Object.fromEntries(
    Object.keys(schema.properties).flatMap((name) => {
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined
      return value === undefined || value === null ? [] : [[name, value]]
    }),
  )
  const validate = request.compileValidationSchema(schema)
  if (!validate(fields)) throw validationError(validate.errors ?? [], fields)
  return fields
}

function refuseUnknown(tool: string, names: readonly string[], sent: object): void {
  const unknown = Object.entries(sent).flatMap(([name, value]) =>
    names.includes(name) || value === null || value === undefined ? [] : [name],
  )
  if (unknown.length === 0) return
  const details = unknown.map((name) => {
    const meant = findSimilarName(name, names)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    return { field: name, message: `${name} is not an argument of ${tool}${hint}`, allowed: [...names] }
  })
  const sentence = details.map(({ message }) => message).join('; ')
  throw new ApiError('INVALID_PARAMETERS', `${sentence}.`, details)
}

/** A polygon of some 1,500 vertices, more than an agent will ever write. */
const BODY_LIMIT_BYTES = 65_536

/** JSON-RPC 2.0, section 5.1. */
const INVALID_REQUEST = -32_600

const TOOLS = [catalogue, whereIs, advisePoint, adviseArea, quantities, explainNoData, releases]

/** The Model Context Protocol over HTTP. The document leaves it out: `tools/list` describes the tools. */
export async function mcp(app: App, { lookup, advisors, readRules }: RegionParts): Promise<void> {
  const tools = TOOLS.map((define) => define(app.products))
  const parts = createToolParts(app, lookup, advisors, readRules)
  let exchange: Promise<Exchange> | undefined

  async function open(): Promise<Exchange> {
    // It takes a fifth of a second and 27 MB, which services without agents save.
    const sdk = await import('@modelcontextprotocol/server')
    const serverFor = serverFactory(sdk, tools, (call) => createToolServices(parts, call))
    return createExchange(sdk, serverFor, app.logFailure)
  }

  function opened(): Promise<Exchange> {
    exchange ??= open().catch((error) => {
      exchange = undefined
      throw error
    })
    return exchange
  }

  app.addHook('onClose', async () => (await exchange)?.close())

  app.post(
    '',
    {
      config: { public: true, scope: 'advisory', ownTurns: true, onlyReads: true },
      schema: { hide: true },
      bodyLimit: Math.min(BODY_LIMIT_BYTES, app.config.BODY_LIMIT_BYTES),
      onRequest: async (request) => refuseOtherOrigins(app, request),
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const message = request.body
      if (!isObject(message)) return refuse(reply)
      // Reading a message takes one to ten milliseconds: points go first.
      await app.turns.next(clientKeyOf(request), createClientSignal(reply))
      const response = await (await opened()).answer(message, { request, reply })
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
