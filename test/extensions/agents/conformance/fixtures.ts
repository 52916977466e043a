import { McpServer } from '@modelcontextprotocol/server'

/** A pixel, as PNG. */
const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** A WAV file without a sample. */
const SOUND = Buffer.from(
  'RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\b\0data\0\0\0\0',
  'latin1',
)

const text = (content: string) => ({ type: 'text', text: content }) as const
const image = { type: 'image', data: IMAGE, mimeType: 'image/png' } as const
const resource = (uri: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: `The text of ${uri}.` } }) as const
const said = (content: object) => ({ role: 'user', content })

/** The answers of tools, by the names that the suite has for them. */
const TOOLS: Record<string, object> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: SOUND.toString('base64'), mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource('test://embedded-resource')] },
  test_multiple_content_types: {
    content: [text('Multiple content types test:'), image, resource('test://mixed-content-resource')],
  },
  test_error_handling: {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  },
  json_schema_2020_12_tool: { content: [text('The schema of its input is listed.')] },
}

const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

const RESOURCES: Record<string, object> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: IMAGE },
  'test://template/123/data': {
    mimeType: 'application/json',
    text: '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
  },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Nothing has changed.' },
}

type Arguments = Record<string, string>

/** The messages of prompts, by the names that the suite has for them. */
const PROMPTS: Record<string, { takes: string[]; messages: (sent: Arguments) => object[] }> = {
  test_simple_prompt: {
    takes: [],
    messages: () => [said(text('This is a simple prompt for testing.'))],
  },
  test_prompt_with_arguments: {
    takes: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    takes: ['resourceUri'],
    messages: ({ resourceUri = '' }) => [said(resource(resourceUri)), said(text('Process the resource.'))],
  },
  test_prompt_with_image: {
    takes: [],
    messages: () => [said(image), said(text('Analyse the image.'))],
  },
}

interface Params {
  name?: string
  uri?: string
  arguments?: Arguments
}

const METHODS: Record<string, (params: Params) => object> = {
  'tools/list': () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: `A tool of the suite: ${name}.`,
      inputSchema: name.startsWith('json_schema') ? SCHEMA_2020 : { type: 'object' },
    })),
  }),
  'tools/call': ({ name = '' }) => known(TOOLS, name),
  'resources/list': () => ({ resources: Object.keys(RESOURCES).map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'A template' }],
  }),
  'resources/read': ({ uri = '' }) => ({ contents: [{ uri, ...known(RESOURCES, uri) }] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({
    prompts: Object.entries(PROMPTS).map(([name, { takes }]) => ({
      name,
      description: `A prompt of the suite: ${name}.`,
      arguments: takes.map((argument) => ({ name: argument, required: true })),
    })),
  }),
  'prompts/get': ({ name = '', arguments: sent = {} }) => ({
    messages: known(PROMPTS, name).messages(sent),
  }),
  'logging/setLevel': () => ({}),
  'completion/complete': () => ({ completion: { values: ['paris', 'park', 'party'], hasMore: false } }),
}

function known<Value>(things: Record<string, Value>, name: string): Value {
  const found = things[name]
  if (found === undefined) throw new Error(`There is no ${name}.`)
  return found
}

/** A server with what the conformance suite asks for: the service's own has tools alone. */
export function createFixtureServer(): McpServer {
  const capabilities = {
    tools: {},
    resources: { subscribe: true },
    prompts: {},
    logging: {},
    completions: {},
  }
  const server = new McpServer({ name: 'fixtures', version: '1.0.0' }, { capabilities })
  for (const [method, answer] of Object.entries(METHODS)) {
    server.server.setRequestHandler(
      method as 'tools/list',
      ({ params }) => answer((params ?? {}) as Params) as never,
    )
  }
  return server
}
