import type { Extension } from '../extension.ts'

/** What has changed: published data as a feed, and values from one release to another. */
export const changes: Extension = {
  name: 'changes',
  part: 'operations',
  commands: { 'releases diff': async () => (await import('./command.ts')).diffCommand },
  async routes(app) {
    const { comparison } = await import('./routes.ts')
    const { feed } = await import('./feed.ts')
    await app.register(comparison)
    await app.register(feed)
  },
}
