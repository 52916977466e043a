import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { loadConfig } from '#src/config.ts'
import { keepPristine, queryOf } from './pristine.ts'
import { prepareTemplate } from './templates.ts'

/** Makes the embedded template databases once for all test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-templates-'))
  await prepareTemplate(loadConfig({ DATA_DIR: join(folder, 'empty') }), 'empty')
  await cp(join(folder, 'empty'), join(folder, 'demo'), { recursive: true })
  await prepareTemplate(loadConfig({ DATA_DIR: join(folder, 'demo') }), 'demo', ({ pool }, content) =>
    keepPristine(queryOf(pool), content),
  )
  project.provide('templates', folder)
  return () => rm(folder, { recursive: true })
}
