import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { adviceOn } from './advice.ts'
import { closeToOthers, keepFilesPrivate } from './closed-folder.ts'
import { type Instance, startInstance } from './instance.ts'
import { lockFolder } from './lock.ts'
import { EmbeddedSocket, type ProtocolServer } from './socket.ts'
import { supervise } from './supervisor.ts'

/** The embedded PostgreSQL of this process. */
export interface EmbeddedCluster {
  /** A stream to speak the PostgreSQL protocol over; a second one waits until the first is closed. */
  connect(): Duplex
  /** Whether its thread has ended and no new one is ready yet: meanwhile nothing in it can change. */
  isAway(): boolean
  close(): Promise<void>
}

/**
 * Starts PostgreSQL with PostGIS in a worker thread, on a folder that belongs to this process alone.
 *
 * There is one session, so one connection at a time. A connection that is cut while it waits for an
 * answer, by a deadline or because the server failed, ends the thread. A new one is started at once,
 * which recovers from its write-ahead log as after a crash; where it cannot, because the disk is full
 * for example, it is tried again and again.
 *
 * @param progress is told what is done, and while it runs, when it has ended, why, and that it is back
 * @throws {OperatorError} when another process holds the folder, or it cannot be used
 */
export async function openEmbedded(
  folder: string,
  progress: (message: string) => void,
): Promise<EmbeddedCluster> {
  const lock = await takeFolder(folder)
  const files = join(folder, 'postgres')
  // Marks files that are the rest of a first start that was cut off: nothing can be in them. A folder
  // without the mark, a backup put back for example, is never removed.
  const unfinished = join(folder, 'unfinished')
  let isNew = false
  try {
    await closeFolder(folder, progress)
    if (existsSync(unfinished)) await rm(files, { recursive: true, force: true })
    isNew = !existsSync(files)
    if (isNew) await writeFile(unfinished, '')
  } catch (error) {
    await lock.close()
    throw unusable(folder, error)
  }
  progress(
    isNew
      ? `creating the embedded database in ${folder}`
      : `opening the embedded database in ${folder} (about 2 s)`,
  )

  let closed = false
  let previousClient: Promise<void> = Promise.resolve()

  const first = startInstance(files, isNew)
  await first.ready.catch(async ({ message }: Error) => {
    await lock.close()
    throw new OperatorError(`In ${folder} ${message}. ${adviceOn(message)}`)
  })
  await rm(unfinished, { force: true })
  const supervisor = supervise(first, () => startInstance(files, false), progress)

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
    const server = supervisor.latest()
    await server.ready.catch((error) => {
      leave()
      throw error
    })
    return {
      ended: server.ended,
      exchange: server.exchange,
      disconnected: (abandoned) => void endSession(server, abandoned).then(leave),
    }
  }

  /** Leaves nothing of a client to the next one. Where that cannot be done, the server is ended. */
  async function endSession(server: Instance, abandoned: boolean): Promise<void> {
    if (supervisor.latest() !== server) return // It has ended by itself.
    if (abandoned || !(await server.forgetClient())) await server.kill()
  }

  return {
    connect: () => new EmbeddedSocket(attach),
    isAway: supervisor.isAway,
    async close() {
      if (closed) return
      closed = true
      supervisor.retire()
      await previousClient
      await supervisor.latest().close()
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
    throw unusable(folder, error)
  }
}

function unusable(folder: string, error: unknown): OperatorError {
  const reason = messageOf(error)
  return new OperatorError(
    `The folder ${folder} cannot be used for the embedded database: ${reason}. ${adviceOn(reason)}`,
  )
}

/** Versions of before left its files to be read by everybody on the machine. */
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
