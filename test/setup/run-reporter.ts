import type { Reporter, TestModule } from 'vitest/node'

/**
 * Closes a run with a line a project, so that a log shows on which databases the tests ran, and the
 * total on a line of its own.
 */
export default class RunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const projects = new Map<string, TestModule[]>()
    for (const module of modules) {
      const name = module.project.name
      projects.set(name, [...(projects.get(name) ?? []), module])
    }
    for (const [name, ofProject] of [...projects].sort()) console.log(`${name}: ${summaryOf(ofProject)}`)
    console.log(summaryOf(modules))
  }
}

function summaryOf(modules: readonly TestModule[]): string {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) counts[test.result().state]++
    // A file that cannot be loaded has no tests to fail.
    if (module.errors().length > 0) counts.failed++
  }
  const skipped = counts.skipped + counts.pending
  return `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
