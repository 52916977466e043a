import type { Extension } from '../extension.ts'

/**
 * All data in a file, `agro export` and `agro import`, between the embedded database and a server; an account from a restored
 * backup, `agro users restore`.
 */
export const transfer: Extension = {
  name: 'transfer',
  commands: {
    export: async () => (await import('./commands.ts')).exportCommand,
    import: async () => (await import('./commands.ts')).importCommand,
    'users restore': async () => (await import('./restore-command.ts')).restoreCommand,
  },
}
