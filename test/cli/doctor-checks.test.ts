import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { areas } from '#src/cli/doctor/areas.ts'
import { clock } from '#src/cli/doctor/clock.ts'
import { connections } from '#src/cli/doctor/connections.ts'
import { disk } from '#src/cli/doctor/disk.ts'
import { files } from '#src/cli/doctor/files.ts'
import { history } from '#src/cli/doctor/history.ts'
import { mail } from '#src/cli/doctor/mail.ts'
import { releases } from '#src/cli/doctor/releases.ts'
import { replica } from '#src/cli/doctor/replica.ts'
import { schema } from '#src/cli/doctor/schema.ts'
import { secrets } from '#src/cli/doctor/secrets.ts'
import { settings } from '#src/cli/doctor/settings.ts'
import { subscriptions } from '#src/cli/doctor/subscriptions.ts'
import { tables } from '#src/cli/doctor/tables.ts'
import { databaseVersions, programVersions } from '#src/cli/doctor/versions.ts'

test('the document names each check of the doctor in the row of its group', () => {
  const groups = [
    ...[programVersions, databaseVersions, settings, secrets, mail, disk, schema],
    ...[connections, replica, clock, tables, history, releases, files, areas, subscriptions],
  ]
  const checks = groups.flatMap(({ group, questions }) =>
    Object.keys(questions).map((check) => `${group}.${check}`),
  )
  const [, section = ''] =
    /\n### agro doctor\n([\s\S]*?)\n##/.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].flatMap(([, group, cell = '']) =>
    [...cell.matchAll(/(?<=^|; )`(\w+)`:/g)].map(([, check]) => `${group}.${check}`),
  )
  expect(rows.sort()).toEqual([...checks, 'database.open'].sort())
})
