import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { loadConfig } from '#src/config.ts'
import { keepPristine, queryOf } from './pristine.ts'
import { prepareTemplate, startMaking } from './templates.ts'

/** Has the embedded template databases made once for all test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return startMaking(project, undefined, async (template, path, folder) => {
    if (template === 'empty') return prepareTemplate(loadConfig({ DATA_DIR: path }), template)
    await cp(join(folder, 'empty'), path, { recursive: true })
    await prepareTemplate(loadConfig({ DATA_DIR: path }), template, ({ pool }, content) =>
      keepPristine(queryOf(pool), content),
    )
  })
}
