import { type Static, Type } from 'typebox'
import type { Extension } from '../extension.ts'

const Operated = Type.Object({
  DRAFT_WORDS: Type.Optional(Type.String({ examples: ['/etc/agro-advisory/words.yaml'] })),
})

declare module '#src/config.ts' {
  interface Config extends Static<typeof Operated> {}
}

/** `agro draft`, which writes the manifests of a folder of rasters, and `agro ingest` of such a folder. */
export const drafts: Extension = {
  name: 'drafts',
  settings: { operated: Operated.properties },
  commands: { draft: async () => (await import('./command.ts')).draftCommand },
  readFolder: async () => (await import('./folder.ts')).readFolder,
}
