import type { Config } from '#src/config.ts'

/** With less a worker could do one thing at a time at the database. */
const LEAST_CONNECTIONS = 3

/**
 * The settings of each of several workers: what there may be of something in all, they have equal shares of. What a
 * worker keeps in memory it keeps for itself, and everybody finds it there.
 */
export function configOfWorker(config: Config): Config {
  const share = (whole: number) => Math.ceil(whole / config.WORKERS)
  return {
    ...config,
    DATABASE_POOL_SIZE: Math.max(LEAST_CONNECTIONS, share(config.DATABASE_POOL_SIZE)),
    DATABASE_QUEUE_LIMIT: share(config.DATABASE_QUEUE_LIMIT),
    MAX_CONNECTIONS: share(config.MAX_CONNECTIONS),
  }
}
