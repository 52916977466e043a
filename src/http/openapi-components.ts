import type { OpenAPIV3_1 } from 'openapi-types'
import { isRef, type Part, Repeats, refTo, type Slot, slotsOf } from './openapi-repeats.ts'

interface Operation extends Part {
  operationId: string
  parameters?: Part[]
  responses: Record<string, Part>
}

/** A schema with fewer letters stays in its place: the reference would be no shorter. */
const SHORTEST_SCHEMA = 60

/**
 * Moves the parts that the document repeats into `components`, and refers to them there: parameters, headers
 * of answers, and members of schemas. An object with examples has those of its members in them.
 */
export function shareComponents(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const { headers = {}, parameters = {}, responses = {}, schemas = {} } = document.components ?? {}
  const operations = Object.values(document.paths ?? {}).flatMap(
    (path) => Object.values(path ?? {}) as unknown as Operation[],
  )
  const ofOperations = operations.map((operation): [string, Part] => [operation.operationId, operation])

  share('headers', [...headersIn(operations), ...Object.entries(responses).flatMap(headersOf)], headers)
  share('parameters', operations.flatMap(slotsOfParameters), parameters)
  const roots = [...Object.entries(schemas), ...Object.entries(parameters), ...ofOperations]
  const members = roots.flatMap(([name, root]) => [...membersIn(root as Part, name)])
  const long = members.filter(({ value }) => JSON.stringify(value).length >= SHORTEST_SCHEMA)
  share('schemas', long, schemas)
  for (const schema of Object.values(schemas)) leaveOutExamples(schema as Part)
  return document
}

function share(kind: string, slots: Slot[], components: Part): void {
  const repeats = new Repeats()
  for (const slot of slots) if (!isRef(slot.value)) repeats.add(slot)
  for (const { name, value, slots } of repeats.named(components)) {
    components[name] = value
    for (const { owner, key } of slots) owner[key] = refTo(kind, name)
  }
}

function headersIn(operations: Operation[]): Slot[] {
  return operations.flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap((response) => headersOf([operationId, response])),
  )
}

function headersOf([within, { headers = {} }]: [string, object & { headers?: object }]): Slot[] {
  return slotsOf(headers as Part, within)
}

function slotsOfParameters({ operationId, parameters = [] }: Operation): Slot[] {
  const slots = slotsOf(parameters as unknown as Part, operationId)
  return slots.map((slot) => ({ ...slot, name: String(slot.value.name) }))
}

/**
 * The members of all objects that a part of the document describes, the outer ones first.
 *
 * @param ofObject whether the part is the members of an object, whose keys are names of the API
 */
function* membersIn(part: Part, within: string, ofObject = false): Generator<Slot> {
  if (ofObject) yield* slotsOf(part, within)
  for (const [key, value] of Object.entries(part)) {
    const isExample = !ofObject && (key === 'example' || key === 'examples')
    if (value === null || typeof value !== 'object' || isExample) continue
    yield* membersIn(value as Part, within, !ofObject && key === 'properties')
  }
}

/** An object that has examples has those of its members, too. */
function leaveOutExamples(schema: Part, covered = false): void {
  const { examples, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema
  if (covered) delete schema.examples
  const inner = [...Object.values(properties as Part), items, ...[anyOf, oneOf, allOf].flat()]
  for (const part of inner) {
    if (part && typeof part === 'object') leaveOutExamples(part as Part, covered || examples !== undefined)
  }
}
