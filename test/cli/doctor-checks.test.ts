import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CHECKS } from '#src/cli/doctor/checks.ts'

test('the document has a row for each check of the doctor, by its name', () => {
  const text = readFileSync('docs/operations.md', 'utf8')
  const rows = [...text.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \|/gm)].map(([, name]) => name)
  expect(rows.sort()).toEqual([...CHECKS.map(({ name }) => name), 'database.open'].sort())
})
