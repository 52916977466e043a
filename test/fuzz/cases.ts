import fc from 'fast-check'
import { isObject } from '#src/lib/json.ts'
import { type Document, type Operation, operationsOf, type Validator } from '#test/setup/document.ts'
import { examplesOf } from '#test/setup/example-requests.ts'
import { ADMIN, type Caller, type Callers } from './callers.ts'
import type { Draft } from './draft.ts'
import { GARBLED } from './garbled.ts'
import { TWISTS, type Twist } from './twists.ts'
import { Remembered, type Schema, valuesOfDocument } from './values.ts'

/** A request to an operation, as the document allows it, and what is then not as it would be. */
export interface Case {
  method: string
  path: string
  operation: Operation
  caller: string
  /**
   * Which id of those that there are is asked for, and whether it is one of somebody else, or what the document shows in
   * its place. `known` is of what the caller has there, if there is anything.
   */
  id: { at: number; from: 'document' | 'memory' | 'known' | 'somebody else' }
  query: Record<string, unknown>
  mediaType: string | undefined
  body: unknown
  accept: string | undefined
  address: string
  twists: readonly Twist[]
}

/** Makes cases of every operation that a document has. */
export function casesOf(document: Document, validator: Validator, callers: string[]): fc.Arbitrary<Case> {
  const { valuesOf, memberValuesOf } = valuesOfDocument(document, validator)

  function queryOf(operation: Operation) {
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
    const values = parameters.map(({ name, schema, example, required = false }) => {
      const shown = example !== undefined && { examples: [example] }
      return { name, required, values: memberValuesOf(name, { ...(schema as Schema), ...shown }) }
    })
    const needed = values.filter(({ required }) => required)
    const recordOf = (some: typeof values) =>
      fc.record<Record<string, unknown>>(Object.fromEntries(some.map(({ name, values }) => [name, values])), {
        requiredKeys: needed.map(({ name }) => name),
      })
    return fc.oneof({ arbitrary: recordOf(values), weight: 2 }, { arbitrary: recordOf(needed), weight: 1 })
  }

  /** A body of one of the media types; of those that are no JSON, what the document shows. */
  function bodyOf(operation: Operation): fc.Arbitrary<Pick<Case, 'mediaType' | 'body'>> {
    const { content, required } = operation.requestBody ?? {}
    const none = { mediaType: undefined, body: undefined }
    if (!content) return fc.constant(none)
    const shown = examplesOf(document, operation)
    const bodies = Object.entries(content).map(([mediaType, { schema }]) => {
      const examples = shown.filter((example) => example.mediaType === mediaType).map(({ body }) => body)
      const made = /[/+]json$/.test(mediaType) ? valuesOf(schema as Schema) : fc.constantFrom(...examples)
      return made.map((body) => ({ mediaType: mediaType as string | undefined, body }))
    })
    const all = fc.oneof(...bodies)
    return required ? all : fc.oneof({ arbitrary: all, weight: 5 }, fc.constant(none))
  }

  const twists = fc.oneof(
    { arbitrary: fc.constant<Twist[]>([]), weight: 9 },
    { arbitrary: fc.array(TWISTS, { minLength: 1, maxLength: 3 }), weight: 10 },
    { arbitrary: GARBLED.map((twist) => [twist]), weight: 1 },
  )

  const casesOfOperation = ({ method, path, operation }: ReturnType<typeof operationsOf>[number]) => {
    const able = callersOf(operation, callers)
    const accepted = Object.values(operation.responses).flatMap(({ content = {} }) => Object.keys(content))
    return fc
      .record({
        caller: fc.oneof({ arbitrary: fc.constant(able[0] as string), weight: 4 }, fc.constantFrom(...able)),
        id: fc.record({
          at: fc.nat(5),
          from: fc.constantFrom('document', 'document', 'memory', 'memory', 'somebody else'),
        }),
        query: queryOf(operation),
        body: bodyOf(operation),
        accept: fc.option(fc.constantFrom('*/*', ...new Set(accepted)), { nil: undefined, freq: 2 }),
        address: fc.ipV4(),
        twists,
      })
      .map(({ body, ...rest }): Case => ({ method, path, operation, ...body, ...rest }))
  }
  return fc.oneof(...operationsOf(document).map(casesOfOperation))
}

/** Those who ask for an operation, whom it is for first. */
function callersOf({ description = '' }: Operation, callers: readonly string[]): string[] {
  const others = callers.filter((name) => name !== ADMIN)
  return /\bfor admins\b/i.test(description) ? [ADMIN, ...others] : others
}

/** What of a body only its caller knows. */
const KNOWN = /^(email|token|refresh_token|totp|current_password|password)$/

/** What the document shows of a body, with what its caller knows; whoever registers or shows a token chooses a password. */
function withKnown(body: unknown, { operationId }: Operation): unknown {
  if (!isObject(body) || operationId === 'register') return body
  const known = Object.keys(body).filter(
    (name) => KNOWN.test(name) && !('token' in body && name === 'password'),
  )
  return { ...body, ...Object.fromEntries(known.map((name) => [name, new Remembered(name, body[name])])) }
}

/** An operation as the document shows it, asked by somebody who may ask for it. */
export function plainCaseOf(
  document: Document,
  { method, path, operation }: ReturnType<typeof operationsOf>[number],
  callers: readonly string[],
): Case {
  const [shown] = examplesOf(document, operation)
  return {
    method,
    path,
    operation,
    caller: callersOf(operation, callers)[0] as string,
    id: { at: 0, from: 'known' },
    query: Object.fromEntries(new URLSearchParams(shown?.query)),
    mediaType: shown?.mediaType,
    body: withKnown(shown?.body, operation),
    accept: undefined,
    address: '127.0.0.1',
    twists: [],
  }
}

/** What the document shows in a place of a path, if it is to be that: what is no id is in no memory. */
function exampleOf({ id, operation, path }: Case, name: string, { memory }: Caller): string | undefined {
  const parameter = operation.parameters?.find((one) => one.in === 'path' && one.name === name)
  const isOther = id.from === 'known' ? memory.knows(path.split('{')[0] as string) : id.from !== 'document'
  return isOther || parameter?.example === undefined ? undefined : String(parameter.example)
}

/** The request of a case, as its caller would send it now. */
export function draftOf(one: Case, caller: Caller, { foreignIds }: Callers): Draft {
  const { id, path, operation, method, mediaType, accept } = one
  const ids = id.from === 'somebody else' ? foreignIds : caller.memory.ids(path.split('{')[0])
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const draft: Draft = {
    operation,
    method,
    template: path,
    path: Object.fromEntries(
      names.map((name) => [name, exampleOf(one, name, caller) ?? ids[id.at % ids.length] ?? 'none']),
    ),
    query: Object.entries(one.query).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, String(caller.memory.recall(value)).toWellFormed()]],
    ),
    headers: accept === undefined ? [] : [['Accept', accept]],
    mediaType,
    body: caller.memory.recall(one.body),
    bytes: undefined,
    encoded: undefined,
    chunked: false,
    garble: undefined,
    elsewhere: false,
    broken: false,
    unclear: false,
  }
  for (const twist of one.twists) twist(draft)
  return draft
}
