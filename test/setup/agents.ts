import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The revisions of the protocol that clients speak. */
export const ERAS = { 2025: 'legacy', 2026: { pin: '2026-07-28' } } as const

/** An answer as the model gets it. */
export interface ToolAnswer {
  text: string
  content: Record<string, unknown>
  isError: boolean
}

export interface Agent {
  client: Client
  /** Calls a tool. */
  call(name: string, input?: object): Promise<ToolAnswer>
  close(): Promise<void>
}

/** Connects the official client to a service. */
export async function connectAgent(url: string, era: keyof typeof ERAS, headers = {}): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: ERAS[era] } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  return {
    client,
    async call(name, input = {}) {
      const result = await client.callTool({ name, arguments: input as Record<string, unknown> })
      const [block] = result.content as { text: string }[]
      return {
        text: block?.text ?? '',
        content: (result.structuredContent ?? {}) as Record<string, unknown>,
        isError: result.isError ?? false,
      }
    },
    close: () => client.close(),
  }
}
