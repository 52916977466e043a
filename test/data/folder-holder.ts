import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'

/** A process for tests to kill: opens the embedded database of DATA_DIR, commits rows, and stays. */

const cluster = await openCluster(loadConfig())
const { pool } = cluster.connect()
await pool.query('create table committed (x int)')
await pool.query('insert into committed select generate_series(1, 1000)')
await pool.query('begin')
await pool.query('insert into committed values (-1)')
console.log('committed')
setInterval(() => {}, 1000)
