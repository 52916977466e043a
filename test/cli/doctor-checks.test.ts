import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SCHEMA_CHECKS, SERVER_CHECKS, SETTINGS_CHECKS } from '#src/cli/doctor/checks.ts'
import { DATA_CHECKS } from '#src/cli/doctor/data-checks.ts'

test('the document names each check of the doctor in the row of its group', () => {
  const [, section = ''] =
    /\n### agro doctor\n([\s\S]*?)\n##/.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].flatMap(([, group, cell = '']) =>
    [...cell.matchAll(/(?<=^|; )`(\w+)`:/g)].map(([, check]) => `${group}.${check}`),
  )
  const checks = { ...SETTINGS_CHECKS, ...SCHEMA_CHECKS, ...SERVER_CHECKS, ...DATA_CHECKS }
  const names = [...Object.keys(checks), 'versions.service', 'database.open']
  expect(rows.sort()).toEqual(names.sort())
})
