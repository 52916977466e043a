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

/** Components whose members other schemas have among theirs. */
const GROUPS = ['QuantityParameters']

/** A document in which schemas refer to groups of members by `allOf`. */
export function withGroups(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Part | undefined>
  const groups = GROUPS.flatMap((name) => {
    const members = schemas[name]?.properties as Part | undefined
    return members ? [{ name, members: Object.entries(members) }] : []
  })
  return JSON.parse(JSON.stringify(document), (_key, value) => {
    if (value?.type !== 'object' || !value.properties) return value
    const group = groups.find(({ members }) => hasAll(value.properties, members))
    return group ? grouped(value, group) : value
  })
}

interface Group {
  name: string
  members: [string, unknown][]
}

/** Whether an object has the members and others. */
function hasAll(properties: Part, members: Group['members']): boolean {
  if (Object.keys(properties).length === members.length) return false
  return members.every(([name, member]) => JSON.stringify(properties[name]) === JSON.stringify(member))
}

function grouped({ description, examples, properties, ...schema }: Part, { name, members }: Group): Part {
  const own = { ...(properties as Part) }
  for (const [member] of members) delete own[member]
  return {
    ...(description !== undefined && { description }),
    allOf: [{ ...schema, properties: own }, refTo('schemas', name)],
    ...(examples !== undefined && { examples }),
  }
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
