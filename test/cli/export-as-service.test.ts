import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { executeOnServer } from '#test/setup/server.ts'

/** The embedded database has one role. */
test.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
  'a role that owns nothing exports all that the owner does',
  async () => {
    const owner = await createTestDatabase('demo')
    const url = new URL(owner.environment.DATABASE_URL as string)
    const [role, password] = [`agro_test_export_${process.pid}`, randomBytes(8).toString('hex')]
    await executeOnServer(url.href, `create role ${role} login password '${password}'`)
    Object.assign(url, { username: role, password })
    const service = { environment: { ...owner.environment, DATABASE_URL: url.href } }
    const folder = await newFolder()
    try {
      expect(await runAgro(owner, 'grants', role)).toMatchObject({ code: 0, stderr: '' })
      const byOwner = await runAgro(owner, 'export', join(folder, 'owner'), '--json')
      const byService = await runAgro(service, 'export', join(folder, 'service'), '--json')
      const notes = ({ stderr }: { stderr: string }) => stderr.replaceAll(/^exporting: .*\n/gm, '')
      expect([byOwner.code, byService.code, notes(byService)]).toEqual([0, 0, notes(byOwner)])
      const { tables } = JSON.parse(byService.stdout)
      expect(tables).toMatchObject({ release: 10 })
      expect(tables).toEqual(JSON.parse(byOwner.stdout).tables)
    } finally {
      const ownerUrl = owner.environment.DATABASE_URL as string
      await executeOnServer(ownerUrl, `drop owned by ${role}; drop role ${role}`)
      await owner.drop()
    }
  },
)
