/** Parts of the document, and of Swagger UI, which has no types. */
// biome-ignore lint/suspicious/noExplicitAny: every part would need a check that tests of the page make.
export type Untyped = any

interface Operation {
  operationId: string
  description?: string
  parameters?: Untyped[]
  responses?: Record<string, Untyped>
  requestBody?: Untyped
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Untyped
}

/** What forms need of operations: bodies, parameters, and the media types of answers. The page has the texts. */
export function shorten(document: Document) {
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    delete operation.description
    // Ids are filled in before an operation is opened, when references are not yet resolved.
    operation.parameters &&= operation.parameters.map((parameter) => referenced(document, parameter))
    const answers = Object.entries(operation.responses ?? {}).filter(([status]) => status < '400')
    operation.responses = Object.fromEntries(
      answers.map(([status, answer]) => {
        const types = Object.keys(referenced(document, answer).content ?? {})
        return [status, { description: '', content: Object.fromEntries(types.map((type) => [type, {}])) }]
      }),
    )
  }
}

/** A part with all that its references lead to; one that leads back to what it is in stays as it is. */
export function resolved(document: Document, part: Untyped, within: string[] = []): Untyped {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map((one) => resolved(document, one, within))
  const { $ref, ...beside } = part
  if (within.includes($ref)) return part
  if ($ref !== undefined)
    return resolved(document, { ...referenced(document, part), ...beside }, [...within, $ref])
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, resolved(document, value, within)]),
  )
}

/**
 * The target of a reference of a document.
 *
 * @param value which may be one
 */
function referenced(document: Document, value: Untyped) {
  if (typeof value?.$ref !== 'string') return value
  const names = value.$ref.slice(2).split('/')
  return names.reduce((found: Untyped, name: string) => found?.[name], document)
}
