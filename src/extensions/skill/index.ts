import type { Extension } from '../extension.ts'
import { skillSchemas } from './schemas.ts'
import type { SkillTable } from './scores.ts'

declare module '#src/data/tables.ts' {
  interface Tables {
    skill: SkillTable
    skill_counted: { release_id: number; level: number; key: Buffer }
  }
}

const auditKinds = { skill_kept: 'the skill of a release was kept' } as const

type Kinds = typeof auditKinds

declare module '#src/data/audit-kinds.ts' {
  interface AuditKinds extends Kinds {}
}

/** Harvests against predictions: scorecards of releases, and what answers say of them. */
export const skill: Extension = {
  name: 'skill',
  // Harvests are reported by message, too.
  needs: ['messages'],
  auditKinds,
  sql: new URL('sql/', import.meta.url),
  ofReleases: ['skill', 'skill_counted'],
  commands: { scorecard: async () => (await import('./command.ts')).scorecardCommand },
  async additions() {
    const { readSkill } = await import('./queries.ts')
    return { members: [{ ...skillSchemas, of: 'products', read: readSkill }] }
  },
  routes: async (app) => (await import('./scorecard.ts')).scorecard(app),
}
