import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedCluster, openEmbedded } from '#src/data/embedded/cluster.ts'
import { createPool } from '#src/data/pool.ts'
import { putBack, type Query, queryOf, schemaOf } from './pristine.ts'
import type { Template } from './templates.ts'

/** An embedded PostgreSQL of this process, which one user has at a time. */
export interface EmbeddedInstance {
  folder: string
  cluster: EmbeddedCluster
  /** Which template its tables are like; undefined once they were used. */
  content: Template | undefined
  /** What {@link schemaOf} has told when it was new. */
  schema: string
}

/** To start one takes 3 seconds of computing and 1 GB, to put back its tables a fraction of one. */
const KEPT = 1

const idle: EmbeddedInstance[] = []

/** Takes an instance that is like the template, or starts one of the demo's folder where all are in use. */
export async function takeInstance(demo: string, template: Template): Promise<EmbeddedInstance> {
  const instance = idle.pop() ?? (await startInstance(demo))
  if (instance.content !== template) await inSession(instance, (query) => putBack(query, template))
  instance.content = undefined
  return instance
}

/** Gives an instance back. Whoever used it must have closed their connections. */
export async function giveBackInstance(instance: EmbeddedInstance): Promise<void> {
  const reusable = idle.length < KEPT && (await inSession(instance, schemaOf)) === instance.schema
  if (reusable) {
    idle.push(instance)
    return
  }
  await instance.cluster.close()
  await rm(instance.folder, { recursive: true })
}

async function startInstance(demo: string): Promise<EmbeddedInstance> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-test-'))
  await cp(demo, folder, { recursive: true })
  const cluster = await openEmbedded(folder, () => {})
  const schema = await inSession({ cluster }, schemaOf)
  return { folder, cluster, content: 'demo', schema }
}

async function inSession<Result>(
  { cluster }: Pick<EmbeddedInstance, 'cluster'>,
  work: (query: Query) => Promise<Result>,
): Promise<Result> {
  const pool = createPool({ target: cluster.connect, size: 1, statementTimeout: 0 })
  return work(queryOf(pool)).finally(() => pool.end())
}
