import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Short files that run for a minute. Vitest begins with large ones: at the end of a run, a core would wait for these. */
const LONG = /\/test\/(chaos\/(faults|rolling-restarts)|fuzz\/fuzz)\.test\.ts$/

/**
 * Files without a database come first, while databases are made; those of one project come together, since its processes end
 * with the last of them.
 */
export class RunOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ project, moduleId }: TestSpecification): number {
  const rank = ['unit', 'embedded', 'server'].indexOf(project.name)
  return LONG.test(moduleId) ? rank : rank + 0.5
}
