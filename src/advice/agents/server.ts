import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type { TObject, TSchema } from 'typebox'
import { SERVICE_NAME } from '#schemas/service.ts'
import { ApiError } from '#src/errors.ts'
import { validationError } from '#src/http/validation.ts'
import { isObject } from '#src/lib/collections.ts'
import { nameMeant } from '#src/lib/names.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Asker } from './advice-service.ts'
import { failureOf } from './failures.ts'
import { answerOf, type Tool } from './tool.ts'

/** What of a field agents are not told: what they need not know, or what their hosts do not. */
const UNLISTED = new Set(['format', 'examples', 'documentedAs', '$id', 'minLength', 'maxLength', 'pattern'])

/**
 * A schema as tools are listed with it. The service judges by the whole one, and says what is wrong: what takes part in
 * neither the choice of a tool nor its call is left out, since every agent reads all of it.
 */
export function listedSchema(schema: TObject): Record<string, unknown> & { type: 'object' } {
  return { ...(listed(schema) as object), type: 'object' }
}

function listed(schema: TSchema): unknown {
  const entries = Object.entries(schema).filter(
    ([name, value]) => !UNLISTED.has(name) && !saysNothing(name, value),
  )
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (name === 'items') return [name, listed(value as TSchema)]
      if (name !== 'properties') return [name, value]
      const fields = Object.entries(value as Record<string, TSchema>)
      return [name, Object.fromEntries(fields.map(([field, inner]) => [field, listed(inner)]))]
    }),
  )
}

function saysNothing(name: string, value: unknown): boolean {
  return (name === 'additionalProperties' && value === true) || (name === 'properties' && isEmpty(value))
}

function isEmpty(value: unknown): boolean {
  return Object.keys(value as object).length === 0
}

/** What the package of the protocol offers; it is loaded when the first agent comes. */
export type Sdk = typeof import('@modelcontextprotocol/server')

/** What agents are told before they choose a tool. */
const INSTRUCTIONS =
  'Agricultural advice from published rasters: yield, fertilizer, organic inputs and forage at places in some African countries (catalogue has them). Values are those of the pixel that a point lies in, never guessed. Give the unit, the scenario, the forecast month, the source and the licence with each value, and say where data are synthetic (made by a formula: not advice) or stale (their season is over). left_out counts what an answer has no room for: ask for less. There is no weather, price, pest or planting date here.'

/** Nothing is changed by any tool, and all of them know only what is published here. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: false }

/** Makes servers, each for one request: they keep nothing. */
export function serverFactory({ McpServer, fromJsonSchema }: Sdk, tools: readonly Tool[]) {
  const registered = tools.map((tool) => ({
    tool,
    config: {
      title: tool.title,
      description: tool.description,
      // Input is judged by `resultOf`, in the words of the service; answers are judged by the tests. Schemas of
      // answers were 5 of the 12 kB that every agent reads first, and an answer names its members itself.
      inputSchema: fromJsonSchema(listedSchema(tool.input), TAKES_ALL),
      annotations: ANNOTATIONS,
    },
  }))

  return (by: Asker): McpServer => {
    const server = new McpServer(
      { name: 'agro-advisory', title: SERVICE_NAME, version: VERSION },
      { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
    )
    for (const { tool, config } of registered) {
      server.registerTool(tool.name, config, (input: unknown) => resultOf(tool, input, by))
    }
    return server
  }
}

const TAKES_ALL: NonNullable<Parameters<Sdk['fromJsonSchema']>[1]> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
}

/** What a call of a tool comes to: an answer, or an error that the agent can do something about. */
async function resultOf(tool: Tool, input: unknown, by: Asker): Promise<CallToolResult> {
  try {
    const draft = await tool.run(judged(tool, input, by) as never, by)
    const { content, text } = answerOf(draft)
    return { content: [{ type: 'text', text }], structuredContent: content as Record<string, unknown> }
  } catch (error) {
    const { text } = failureOf(error, isObject(input) ? input : {}, by)
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/**
 * The fields of a tool's input, without what is null: that counts as left out.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
function judged({ name: tool, input: schema }: Tool, input: unknown, { request }: Asker): object {
  const sent = isObject(input) ? input : {}
  refuseUnknown(tool, Object.keys(schema.properties), sent)
  const fields = Object.fromEntries(
    Object.keys(schema.properties).flatMap((name) => {
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined
      return value === undefined || value === null ? [] : [[name, value]]
    }),
  )
  const isRight = request.compileValidationSchema(schema)
  if (!isRight(fields)) throw validationError(isRight.errors ?? [], fields)
  return fields
}

/** @throws {ApiError} INVALID_PARAMETERS where a call has arguments that its tool does not know */
function refuseUnknown(tool: string, known: readonly string[], sent: object): void {
  const unknown = Object.entries(sent).flatMap(([name, value]) =>
    known.includes(name) || value === null || value === undefined ? [] : [name],
  )
  if (unknown.length === 0) return
  const details = unknown.map((name) => {
    const meant = nameMeant(name, known)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    return { field: name, message: `${name} is not an argument of ${tool}${hint}`, allowed: [...known] }
  })
  const sentence = details.map(({ message }) => message).join('; ')
  throw new ApiError('INVALID_PARAMETERS', `${sentence}.`, details)
}
