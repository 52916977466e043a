import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CHECKS } from '#src/cli/doctor/checks.ts'

test('the document names each check of the doctor in the row of its group', () => {
  const [, section = ''] =
    /\n### agro doctor\n([\s\S]*?)\n##/.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].flatMap(([, group, cell = '']) =>
    [...cell.matchAll(/(?<=^|; )`(\w+)`:/g)].map(([, check]) => `${group}.${check}`),
  )
  expect(rows.sort()).toEqual([...CHECKS.map(({ name }) => name), 'database.open'].sort())
})
