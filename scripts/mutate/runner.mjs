/**
 * Stryker's runner for Vitest, sooner at an end: what the hooks of a file reach concerns the tests of that file, and short
 * files come first, since the first test that fails is the last one.
 */
import { resolve } from 'node:path'
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import { strykerPlugins as plugins } from '@stryker-mutator/vitest-runner'

createRunner.inject = tokens(commonTokens.injector)
function createRunner(injector) {
  const runner = injector.injectFunction(plugins[0].factory)
  const methods = [runner.init, runner.dryRun, runner.mutantRun]
  const [init, dryRun, mutantRun] = methods.map((method) => method.bind(runner))
  const durations = new Map()

  runner.init = async () => {
    await init()
    runner.ctx.config.sequence.sequencer = shortestFirst(durations)
    for (const { config } of runner.ctx.projects) {
      // In threads, as Stryker would have it, the reader of rasters cannot be loaded.
      config.pool = 'forks'
      // Behind Stryker's own.
      config.setupFiles.splice(1, 0, resolve('scripts/mutate/hooks.mjs'))
    }
  }
  runner.dryRun = async (options) => {
    const found = await dryRun(options)
    const files = runner.ctx.state.getFiles()
    // Stryker passes over a file that cannot be loaded.
    const unloaded = files.filter(({ result, tasks }) => result?.state === 'fail' && tasks.length === 0)
    if (unloaded.length > 0) return { status: 'error', errorMessage: unloaded.map(textOf).join('\n') }
    for (const { filepath, result } of files) durations.set(filepath, result?.duration ?? 0)
    for (const project of new Set(files.map(({ projectName }) => projectName))) {
      const own = files.filter(({ projectName }) => projectName === project)
      if (found.mutantCoverage) attributeHooks(found.mutantCoverage, own, found.tests)
    }
    return found
  }
  runner.mutantRun = async (options) => {
    const found = await mutantRun(options)
    // Stryker passes over tests that a hook of their file has kept from running.
    const failed = runner.ctx.state.getFiles().find(({ result }) => result?.state === 'fail')
    if (found.status !== 'survived' || !failed) return found
    return { ...found, status: 'killed', killedBy: options.testFilter ?? [], failureMessage: textOf(failed) }
  }
  return runner
}

function textOf({ name, result }) {
  return `${name} cannot run: ${result?.errors?.[0]?.message}`
}

/** @param files those of a process, which counts on from file to file */
function attributeHooks(coverage, files, tests) {
  const inHooks = {}
  for (const { filepath, meta } of files) {
    const own = tests.filter(({ fileName }) => fileName === filepath)
    for (const [change, hits] of Object.entries(meta.hooks ?? {})) {
      inHooks[change] = (inHooks[change] ?? 0) + hits
      for (const { id } of own) {
        coverage.perTest[id] ??= {}
        coverage.perTest[id][change] ??= hits
      }
    }
  }
  for (const [change, hits] of Object.entries(inHooks)) {
    const total = Math.max(...files.map(({ meta }) => meta.mutantCoverage?.static[change] ?? 0))
    // Nothing is left that the loading of modules reached.
    if (hits >= total) delete coverage.static[change]
  }
}

function shortestFirst(durations) {
  const durationOf = ({ moduleId }) => durations.get(moduleId) ?? 0
  const isUnit = ({ project }) => Number(project.name === 'unit')
  return class {
    shard(files) {
      return files
    }
    sort(files) {
      return files.toSorted(
        (one, other) => isUnit(other) - isUnit(one) || durationOf(one) - durationOf(other),
      )
    }
  }
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'by-file', createRunner)]
