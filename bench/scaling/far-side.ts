import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Cleanup } from '../cleanup.ts'

/** A web server that has a folder of granules, and takes its time. */
export interface FarSide {
  /** For TILE_STORE. */
  url: string
  /** Ranges that were asked for so far. */
  reads(): number
}

/**
 * Serves ranges of the files of a folder, each after a delay: what a store in another place costs.
 *
 * @param delayMs what is waited for before each answer
 */
export async function startFarSide(cleanup: Cleanup, folder: string, delayMs: number): Promise<FarSide> {
  let reads = 0
  const server = createServer(async (request, response) => {
    reads++
    try {
      const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
      const name = /^\/[0-9a-f]{2}\/[0-9a-f]{64}\.tif$/.exec(request.url ?? '')
      if (!range || !name) throw new Error('not what a granule is asked with')
      await setTimeout(delayMs)
      const [first, last] = [Number(range[1]), Number(range[2])]
      const file = await open(join(folder, name[0]))
      const bytes = Buffer.alloc(last - first + 1)
      await file.read(bytes, 0, bytes.length, first).finally(() => file.close())
      response.writeHead(206, { 'content-length': bytes.length }).end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.add(() => {
    server.closeAllConnections()
    server.close()
  })
  // By name: the service's own address is looked for in what it prints.
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/`, reads: () => reads }
}
