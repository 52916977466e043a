import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { closeToOthers, keepFilesPrivate } from './closed-folder.ts'
import { lockFolder } from './lock.ts'
import { EmbeddedSocket, isIdle, type ProtocolServer, queryMessage } from './socket.ts'

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
  ended: Promise<void>
}

/**
 * Starts PostgreSQL with PostGIS in a worker thread, on a folder that belongs to this process alone.
 *
 * There is one session, so one connection at a time. A connection that is cut while it waits for an
 * answer, by a deadline or because the server failed, ends the thread: the next one gets a new server,
 * which recovers from its write-ahead log as after a crash.
 *
 * @throws {OperatorError} when another process holds the folder, or it cannot be used
 */
export async function openEmbedded(
  folder: string,
  progress: (message: string) => void,
): Promise<EmbeddedCluster> {
  const lock = await takeFolder(folder)
  await closeFolder(folder, progress).catch((error) => giveUp(folder, lock, error))
  const files = join(folder, 'postgres')
  // Marks files that are the rest of a first start that was cut off: nothing can be in them. A folder
  // without the mark, a backup put back for example, is never removed.
  const unfinished = join(folder, 'unfinished')
  if (existsSync(unfinished)) await rm(files, { recursive: true, force: true })
  const isNew = !existsSync(files)
  if (isNew) await writeFile(unfinished, '')
  progress(
    isNew
      ? `creating the embedded database in ${folder}`
      : `opening the embedded database in ${folder} (about 2 s)`,
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
      ended: server.ended,
      exchange: (messages) => exchange(server, messages),
      disconnected: (abandoned) => void endSession(server, abandoned).then(leave),
    }
  }

  /** Leaves nothing of a client to the next one. Where that cannot be done, the server is ended. */
  async function endSession(server: Instance, abandoned: boolean): Promise<void> {
    if (instance !== server) return // It has ended by itself.
    if (abandoned || !(await forgetClient(server))) await server.worker.terminate()
  }

  await running().ready.catch(async ({ message }: Error) => {
    await lock.close()
    throw new OperatorError(
      `In ${folder} ${message}. If its files are damaged, put back a backup, or move them away to begin anew.`,
    )
  })
  await rm(unfinished, { force: true })

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

async function takeFolder(folder: string): Promise<FileHandle> {
  try {
    keepFilesPrivate()
    await mkdir(folder, { recursive: true })
    return await lockFolder(folder)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `The folder ${folder} cannot be used for the embedded database: ${messageOf(error)}. ` +
        'Set DATA_DIR to one that can be written to.',
    )
  }
}

/** Versions of before left its files to be read by everybody on the machine. */
async function giveUp(folder: string, lock: FileHandle, error: unknown): Promise<never> {
  await lock.close()
  throw new OperatorError(`The folder ${folder} cannot be used: ${messageOf(error)}.`)
}

async function closeFolder(folder: string, progress: (message: string) => void): Promise<void> {
  const { closed, open } = await closeToOthers(folder)
  if (closed > 0) progress(`closed ${folder} to other users of this machine, who could read it`)
  if (open.length > 0) {
    progress(
      `other users of this machine may read ${open[0]}${open.length > 1 ? ` and ${open.length - 1} more files` : ''}, ` +
        'which cannot be changed: take a folder for DATA_DIR that belongs to this user alone',
    )
  }
}

function startInstance(folder: string, onEnd: () => void): Instance {
  const worker = new Worker(new URL('./boot.mjs', import.meta.url), { workerData: { folder } })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const ready = new Promise<void>((resolve, reject) => {
    const failed = (reason: string) =>
      reject(new Error(`the embedded database could not be started: ${reason}`))
    worker.once('message', () => resolve())
    worker.once('error', ({ message }: Error) => failed(message))
    worker.once('exit', () => failed('its thread ended'))
  })
  worker.once('exit', onEnd)
  worker.on('error', () => {})
  // Errors reach whoever waits for `ready`; this one is for the case that nobody does.
  ready.catch(() => {})
  return { worker, ready, ended }
}

async function stopInstance({ worker, ended }: Instance): Promise<void> {
  worker.postMessage('close')
  await ended
}

/**
 * Does what a server does when a connection ends: the transaction is rolled back; settings, temporary
 * tables, prepared statements and locks of the session are gone.
 *
 * @returns whether it succeeded
 */
async function forgetClient(server: Instance): Promise<boolean> {
  for (const statement of ['rollback', 'discard all']) {
    const answer = await exchange(server, queryMessage(statement)).catch(() => undefined)
    if (!answer || !isIdle(answer)) return false
  }
  return true
}

function exchange({ worker }: Instance, messages: Uint8Array): Promise<Uint8Array> {
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
