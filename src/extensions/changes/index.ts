import type { Extension } from '../extension.ts'

/** What has changed: published data as a feed, and values from one release to another. */
export const changes: Extension = {
  name: 'changes',
  part: 'operations',
  commands: { 'releases diff': async () => (await import('./command.ts')).diffCommand },
  async routes(app) {
    await (await import('./routes.ts')).comparison(app)
    await (await import('./feed.ts')).feed(app)
  },
}
