import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type { TObject, TSchema } from 'typebox'
import { SERVICE_NAME } from '#schemas/service.ts'
import { ApiError } from '#src/errors.ts'
import { validationError } from '#src/http/validation.ts'
import { isObject } from '#src/lib/collections.ts'
import { findSimilarName } from '#src/lib/names.ts'
import { VERSION } from '#src/lib/version.ts'
import { fitAnswer, formatFailure, type ToolCall } from './tool.ts'
import type { Tool, ToolServices } from './tool-services.ts'

/** Keywords that agents do not need, or their hosts do not know. */
const UNLISTED = new Set(['format', 'examples', 'documentedAs', '$id', 'minLength', 'maxLength', 'pattern'])

/** Shortens a schema for the list of tools, which every agent reads. The service validates by the whole one. */
export function shortenSchema(schema: TObject): Record<string, unknown> & { type: 'object' } {
  return { ...(shorten(schema) as object), type: 'object' }
}

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

/** The package of the protocol, loaded with the first agent. */
export type Sdk = typeof import('@modelcontextprotocol/server')

/** Agents read it before they choose a tool. */
const INSTRUCTIONS =
  'Agricultural advice from published rasters: yield, fertilizer, organic inputs and forage at places in some African countries (catalogue has them). Values are those of the pixel that a point lies in, never guessed. Give the unit, the scenario, the forecast month, the source and the licence with each value, and say where data are synthetic (made by a formula: not advice) or stale (their season is over). left_out counts what an answer has no room for: ask for less. There is no weather, price, pest or planting date here.'

/** Tools change nothing, and read the published releases alone. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: false }

/** Makes a server for each request: servers have no state. */
export function serverFactory(
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
      inputSchema: fromJsonSchema(shortenSchema(tool.input), ACCEPT_ALL),
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

/** Calls a tool. An error becomes an answer with its remedy. */
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

/**
 * The fields of a tool's input. Null counts as left out.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
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

/** @throws {ApiError} INVALID_PARAMETERS where a call has arguments that its tool has not */
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
