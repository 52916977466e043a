import type { Extension } from '../extension.ts'

const errors = {
  TOO_MANY_SHARES: {
    status: 409,
    meaning: 'The user has shared the maximum number of advisories.',
    example: 'You have shared 1000 advisories: take one back first.',
  },
}
type OwnErrors = typeof errors

declare module '#src/api-error.ts' {
  interface Errors extends OwnErrors {}
}

/** Items of histories that their owners share, at addresses to cite. */
export const citations: Extension = {
  name: 'citations',
  guide: { path: 'citing', title: 'citing', before: 'operators' },
  part: 'account',
  errors,
  async routes(app, core) {
    const { citations } = await import('./routes.ts')
    await app.register(citations, core)
  },
}
