import type { Extension } from '../extension.ts'

/** Tools for AI agents over the Model Context Protocol. */
export const agents: Extension = {
  name: 'agents',
  needs: ['places'],
  guide: { path: 'agents', title: 'Agents (MCP)', before: 'clients' },
  // Of agents in pages.
  requestHeaders: ['Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
  links: { mcp: { path: '/mcp', description: 'The tools for AI agents (MCP).' } },
  async routes(app, core) {
    const { mcp } = await import('./routes.ts')
    await app.register(mcp, { prefix: '/mcp', ...core })
  },
}
