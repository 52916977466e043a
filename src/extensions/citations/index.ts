import type { Extension } from '../extension.ts'

/** Items of histories that their owners share, at addresses to cite. */
export const citations: Extension = {
  name: 'citations',
  guide: { path: 'citing', title: 'Citing', before: 'operators' },
  part: 'account',
  accountLimits: {
    TOO_MANY_SHARES: {
      of: 'shares',
      most: 1000,
      table: 'history_share',
      rows: 'user_id = :user',
      status: 409,
      meaning: 'The user has shared the maximum number of advisories.',
      example: 'You have shared 1000 advisories: take one back first.',
    },
  },
  routes: async (app, core) => (await import('./routes.ts')).citations(app, core),
}
