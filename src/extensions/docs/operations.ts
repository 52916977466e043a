import type { Components } from '#src/http/openapi/repeats.ts'
import { escaped } from '#src/http/plain-page.ts'
import { Cache } from '#src/lib/cache.ts'
import { indented, renderCode, renderSamples } from './code.ts'
import { Fields, type Media } from './fields.ts'
import { writeSamples } from './samples.ts'

interface Parameter extends Media {
  name: string
  in: string
  required?: boolean
  description?: string
}

type Content = Record<string, Media>

interface Answer {
  description?: string
  content?: Content
}

interface DocumentedOperation {
  operationId: string
  summary?: string
  tags?: string[]
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content; 'x-other-media-types'?: string[] }
  security?: object[]
  responses: Record<string, Answer>
}

/** What the page reads of the OpenAPI document. */
export interface ApiDocument {
  tags?: { name: string; description?: string }[]
  paths?: Record<string, Record<string, DocumentedOperation>>
  components?: { schemas?: Components }
}

export interface Operation {
  id: string
  tag: string
  method: string
  path: string
  summary: string
  documented: DocumentedOperation
}

export interface Tag {
  name: string
  description: string
  operations: Operation[]
}

/** Operations by tag, in the order of the document; those of a point are the first. */
export function listTags({ tags = [], paths = {} }: ApiDocument): Tag[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => ({
      ...{ id: documented.operationId, tag: documented.tags?.[0] ?? '', method, path },
      ...{ summary: documented.summary ?? path, documented },
    })),
  )
  const rank = ({ method, path }: Operation) =>
    method === 'post' && /^\/advisory\/\w+\/point$/.test(path) ? 0 : 1
  return tags.map(({ name, description = '' }) => {
    const operations = all.filter(({ tag }) => tag === name).sort((a, b) => rank(a) - rank(b))
    return { name, description, operations }
  })
}

/** Texts of all operations, twice: a document with more is none that people read. */
const MOST_TEXTS = 500

/** Makes HTML of operations, once of each: one takes tens of milliseconds. */
export class OperationWriter {
  readonly #texts = new Cache<string, string>('operations of the page', { max: MOST_TEXTS })
  readonly #fields: Fields
  readonly #markdown: (text: string) => string

  /** @param markdown makes HTML of a description */
  constructor(document: ApiDocument, markdown: (text: string) => string) {
    this.#fields = new Fields(document, markdown)
    this.#markdown = markdown
  }

  /** The text of an operation, and beside it its code and its answer. */
  render(operation: Operation): string {
    return this.#texts.getOrCreate(operation.id, () => this.#render(operation))
  }

  /** The words of an operation, for the search: its description, fields and codes of errors. */
  listWords(operation: Operation): string {
    return this.#texts.getOrCreate(`words of ${operation.id}`, () => this.#listWords(operation))
  }

  #render(operation: Operation): string {
    const { mediaType, media } = this.#findAnswer(operation)
    const example = media && /json/.test(String(mediaType)) ? this.#fields.readExample(media) : undefined
    const answer = example === undefined ? '' : renderCode(indented(example), 'json')
    return `<div class="text">${this.#renderText(operation)}</div>
<div class="beside">${this.#renderSample(operation)}${answer && `<p class="small">The answer</p>${answer}`}</div>`
  }

  #listWords(operation: Operation): string {
    const { description = '', requestBody, responses, operationId } = operation.documented
    const parameters = this.#listParameters(operation).map(({ name }) => name)
    const schemas = [...Object.values(requestBody?.content ?? {}), this.#findAnswer(operation).media]
    const fields = schemas.flatMap((media) => this.#fields.listNames(media?.schema ?? {}))
    const errors = Object.values(responses).map((answer) => this.#fields.resolve(answer).description ?? '')
    const types = requestBody?.['x-other-media-types'] ?? []
    const codes = errors.flatMap((text) => text.match(/(?<=`)[A-Z_]+(?=`)/g) ?? [])
    const words = [
      ...[description.replaceAll(/[`*]/g, ''), operationId, operation.path],
      ...[...parameters, ...fields, ...types, ...codes],
    ]
    return [...new Set(words)].join(' ')
  }

  #listParameters({ documented: { parameters = [] } }: Operation): Parameter[] {
    return parameters.map((parameter) => this.#fields.resolve(parameter))
  }

  #findAnswer({ documented: { responses } }: Operation): { mediaType?: string; media?: Media } {
    const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
    const [first] = Object.entries((answer && this.#fields.resolve(answer).content) ?? {})
    return first ? { mediaType: first[0], media: first[1] } : {}
  }

  #renderSample(operation: Operation): string {
    const { method, path, documented } = operation
    const [body] = Object.entries(documented.requestBody?.content ?? {})
    const parameters = this.#listParameters(operation)
    const write = (parameter: Parameter) => {
      const value = this.#fields.readExample(parameter)
      return encodeURIComponent(Array.isArray(value) ? value.join() : String(value)).replaceAll('%2C', ',')
    }
    const named = parameters
      .filter((one) => one.in === 'path')
      .reduce((sum, one) => sum.replace(`{${one.name}}`, write(one)), path)
    const query = parameters
      .filter((one) => one.in === 'query' && one.required)
      .map((one) => `${one.name}=${write(one)}`)
    const call = {
      method,
      path: query.length > 0 ? `${named}?${query.join('&')}` : named,
      needsToken: needsToken(operation),
      answersJson: this.#findAnswer(operation).mediaType?.includes('json') ?? false,
      ...(body && { body: { mediaType: body[0], example: this.#fields.readExample(body[1]) } }),
    }
    return renderSamples(writeSamples(call))
  }

  #renderText(operation: Operation): string {
    const { description = '', requestBody, responses } = operation.documented
    const parameters = this.#listParameters(operation)
    const listIn = (place: string) => {
      const found = parameters.filter((one) => one.in === place)
      return found.length > 0 && this.#fields.render(found)
    }
    const [body] = Object.values(requestBody?.content ?? {})
    const bodyFields = body?.schema && this.#fields.render(this.#fields.listMembers(body.schema))
    const answered = this.#fields.listMembers(this.#findAnswer(operation).media?.schema ?? {})
    const types = requestBody?.['x-other-media-types']?.map((type) => `<code>${escaped(type)}</code>`) ?? []
    return [
      this.#markdown(description),
      part('In the path', listIn('path')),
      part('Body', bodyFields),
      types.length > 0 && `<p>The body may also be ${types.join(', ')}.</p>`,
      body ? fold('In the query instead', listIn('query')) : part('Query', listIn('query')),
      fold('Headers', listIn('header')),
      fold('Members of the answer', answered.length > 0 && this.#fields.render(answered)),
      part('Errors', this.#renderErrors(responses)),
    ]
      .filter(Boolean)
      .join('\n')
  }

  #renderErrors(responses: DocumentedOperation['responses']): string {
    const rows = Object.entries(responses).flatMap(([status, answer]) => {
      if (status < '400' || status === 'default') return []
      return `<dt>${status}</dt><dd>${this.#markdown(this.#fields.resolve(answer).description ?? '')}</dd>`
    })
    return `<dl class="fields">${rows.join('')}</dl>`
  }
}

/** A list of fields below a heading, or folded; nothing without a list. */
const part = (name: string, list: string | false | undefined) => list && `<h4>${name}</h4>${list}`
const fold = (name: string, list: string | false) =>
  list && `<details><summary>${name}</summary>${list}</details>`

function needsToken({ documented: { security = [] } }: Operation): boolean {
  return security.length > 0 && security.every((way) => Object.keys(way).length > 0)
}
