import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { lockFolder } from './lock.ts'
import { EmbeddedSocket, type ProtocolServer } from './socket.ts'

/** The embedded PostgreSQL of this process. */
export interface EmbeddedCluster {
  /** A stream to speak the PostgreSQL protocol over; a second one waits until the first is closed. */
  connect(): Duplex
  close(): Promise<void>
}

/** A thread that runs the server, from its start to its end. */
interface Instance {
  worker: Worker
  ready: Promise<void>
}

/**
 * Starts PostgreSQL with PostGIS in a worker thread, on a folder that belongs to this process alone.
 *
 * There is one session, so one connection at a time. A connection that is cut while it waits for an
 * answer, by a deadline or because the server failed, ends the thread: the next one gets a new server,
 * which recovers from its write-ahead log as after a crash.
 *
 * @throws {OperatorError} when another process holds the folder
 */
export async function openEmbedded(
  folder: string,
  progress: (message: string) => void,
): Promise<EmbeddedCluster> {
  await mkdir(folder, { recursive: true })
  const lock = await lockFolder(folder)
  const files = join(folder, 'postgres')
  const created = join(folder, 'created')
  // Files without this mark are the rest of a first start that was cut off: nothing can be in them.
  if (!existsSync(created)) await rm(files, { recursive: true, force: true })
  progress(
    existsSync(created)
      ? `opening the embedded database in ${folder} (about 2 s)`
      : `creating the embedded database in ${folder} (about 10 s)`,
  )

  let closed = false
  let instance: Instance | undefined
  let previousClient: Promise<void> = Promise.resolve()

  /** The running server; a new one where the last was ended. */
  function running(): Instance {
    instance ??= startInstance(files, () => {
      instance = undefined
    })
    return instance
  }

  async function attach(): Promise<ProtocolServer> {
    const turn = previousClient
    let leave = () => {}
    previousClient = new Promise((resolve) => {
      leave = resolve
    })
    await turn
    if (closed) {
      leave()
      throw new Error('the embedded database is closed')
    }
    const server = running()
    await server.ready.catch((error) => {
      leave()
      throw error
    })
    return {
      exchange: (messages) => exchange(server.worker, messages),
      disconnected(abandoned) {
        if (!abandoned) return leave()
        instance = undefined
        server.worker.terminate().then(leave, leave)
      },
    }
  }

  await running().ready.catch(async (error) => {
    await lock.close()
    throw error
  })
  await writeFile(created, '')

  return {
    connect: () => new EmbeddedSocket(attach),
    async close() {
      if (closed) return
      closed = true
      await previousClient
      if (instance) await stopInstance(instance)
      await lock.close()
    },
  }
}

function startInstance(folder: string, ended: () => void): Instance {
  const worker = new Worker(new URL('./boot.mjs', import.meta.url), { workerData: { folder } })
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the embedded database ended while it was starting')))
  })
  worker.once('exit', ended)
  worker.on('error', () => {})
  // Errors reach whoever waits for `ready`; this one is for the case that nobody does.
  ready.catch(() => {})
  return { worker, ready }
}

async function stopInstance({ worker }: Instance): Promise<void> {
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  worker.postMessage('close')
  await ended
}

function exchange(worker: Worker, messages: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    worker.once('message', answered)
    worker.once('exit', ended)
    worker.postMessage(messages)

    function answered(answer: Uint8Array) {
      worker.off('exit', ended)
      resolve(answer)
    }
    function ended() {
      worker.off('message', answered)
      reject(new Error('the embedded database ended'))
    }
  })
}
