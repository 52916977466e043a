import type { Extension } from '../extension.ts'

/** Guides, operations with Swagger UI, and clients, for people who write programs. */
export const docs: Extension = {
  name: 'docs',
  links: { docs: { path: '/docs', description: 'A page to try each operation on.' } },
  rule: '`/docs/rules` has all rules.',
  documentation: {
    path: '/docs',
    async show(app, on) {
      const { docsPage } = await import('./routes.ts')
      await app.register(docsPage, { on })
    },
  },
}
