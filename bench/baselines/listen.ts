import type { FastifyInstance } from 'fastify'

/** Listens on a free port, says where, and closes on SIGTERM: what the bench expects of a server. */
export async function listenForBench(app: FastifyInstance): Promise<void> {
  process.on('SIGTERM', () => {
    void app.close().then(() => process.exit())
  })
  console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
}
