import type { Extension } from '../extension.ts'

/** Answers for a point or a place as text messages. */
export const texts: Extension = {
  name: 'texts',
  needs: ['places'],
  rule: '**Text messages.** With `Accept: text/plain` a point or a place is answered in one text message, or in `max_segments`.',
  async additions(app) {
    const { createTextFormat } = await import('./reply.ts')
    return { formats: [createTextFormat(app)] }
  },
}
