import { existsSync } from 'node:fs'
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rm,
  writeFile,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { tryLock } from 'fs-native-extensions'
import { OperatorError } from '#src/errors.ts'
import { doublingPauses, formatError, pauseAfter } from '#src/lib/promises.ts'
import { EmbeddedSocket, type ProtocolServer, queryMessage } from './protocol.ts'

/** Advice by the reason of a failed start; the first match counts. */
const ADVICE: [reason: RegExp, advice: string][] = [
  [/No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i, 'Make room there.'],
  [
    /Read-only file system|Permission denied|Operation not permitted|EROFS|EACCES|EPERM|ENOTDIR|EEXIST|ENOENT/,
    'Set DATA_DIR to one that can be written to.',
  ],
  [
    /incompatible with server/,
    'Start the version of the service that made them, or put back a backup of this one.',
  ],
  [
    /pg_control|control file|pg_wal|WAL|checkpoint|PG_VERSION|invalid page|could not (open|read) file|does not exist/,
    'Its files are damaged: put back a backup, or move them away to begin anew.',
  ],
]

export function adviceOn(reason: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1]
  return advice ?? 'If its files are damaged, put back a backup, or move them away to begin anew.'
}

/** Names in the folder of the data; `postgis` is of 1.1.0. */
const OURS = ['postgres', 'postgis', 'lock', 'unfinished', 'jwt-secret']

/** Rights of the group, and of everybody. */
const OTHERS = 0o077
const STICKY = 0o1000

/**
 * Closes our files in a folder to other users of the machine, as PostgreSQL does: no user reaches a file in a closed folder.
 *
 * @returns number of closed files and folders, and those that cannot be closed
 */
export async function closeToOthers(folder: string): Promise<{ closed: number; open: string[] }> {
  const before = await openToOthers(folder)
  for (const path of before) {
    await chmod(path, (await lstat(path)).mode & ~OTHERS & 0o777).catch(() => {})
  }
  const open = await openToOthers(folder)
  return { closed: before.length - open.length, open }
}

/** Our files and folders that are open to other users of the machine. */
export async function openToOthers(path: string): Promise<string[]> {
  // Modes mean nothing on Windows.
  if (process.platform === 'win32' || !existsSync(path)) return []
  const folder = await realpath(path)
  const names = await readdir(folder)
  const ours = names.filter((name) => OURS.includes(name))
  // Its sticky bit marks a folder for everybody, such as /tmp.
  const isOurs = ours.length === names.length && ((await lstat(folder)).mode & STICKY) === 0
  const paths = [...(isOurs ? [folder] : []), ...ours.map((name) => join(folder, name))]
  const modes = await Promise.all(paths.map(async (path) => (await lstat(path)).mode))
  return paths.filter((_, index) => ((modes[index] as number) & OTHERS) !== 0)
}

/** The thread's JavaScript takes 100 at most, in a first start. Node's own bound is half of a laptop's memory. */
const HEAP_MB = 256

type Instance = ReturnType<typeof startInstance>

/** @param isNew whether the folder has no database yet */
export function startInstance(folder: string, isNew: boolean) {
  const worker = new Worker(new URL('../../lib/thread-boot.mjs', import.meta.url), {
    workerData: { file: new URL('./worker.ts', import.meta.url).href, folder, isNew },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  let reason: string | undefined
  const ended = new Promise<Error>((resolve) => {
    worker.once('error', ({ message }: Error) => {
      reason = message
    })
    worker.once('exit', () =>
      resolve(new Error(`the embedded database ended${reason === undefined ? '' : `: ${reason}`}`)),
    )
  })
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('exit', () =>
      reject(new Error(`the embedded database could not be started: ${reason ?? 'its thread ended'}`)),
    )
  })
  // For a process without callers of `ready`.
  ready.catch(() => {})

  const exchange: ProtocolServer['exchange'] = (messages, receive) =>
    new Promise((resolve, reject) => {
      worker.on('message', take)
      worker.once('exit', endedBefore)
      worker.postMessage(messages)

      function take(piece: Parameters<typeof receive>[0]) {
        if (piece.ending) {
          worker.off('message', take).off('exit', endedBefore)
          resolve(piece.ending)
        }
        receive(piece)
      }
      function endedBefore() {
        worker.off('message', take)
        void ended.then(reject)
      }
    })

  return {
    /** Rejects with the reason of a failed start. */
    ready,
    /** Resolves to the error of its clients. */
    ended,
    exchange,
    /** Ends the session, as a server does with a connection; false where it cannot. */
    async forgetClient(): Promise<boolean> {
      for (const statement of ['rollback', 'discard all']) {
        const ending = await exchange(queryMessage(statement), () => {}).catch(() => undefined)
        if (ending !== 'idle') return false
      }
      return true
    },
    /** Ends it as a crash would. */
    async kill(): Promise<void> {
      await worker.terminate()
    },
    /** Ends it after its last answer. */
    async close(): Promise<void> {
      worker.postMessage('close')
      await ended
    },
  }
}

/** Another process has the folder; the database is well. */
export class FolderInUse extends OperatorError {}

/**
 * Locks a folder: two processes on one folder lose rows silently. The kernel's lock on an open file ends with its process,
 * and not before.
 *
 * @returns the file; its close unlocks the folder
 */
export async function lockFolder(folder: string): Promise<FileHandle> {
  const file = await open(join(folder, 'lock'), 'a+')
  if (!tryLock(file.fd)) {
    const holder = (await file.readFile('utf8')).trim()
    await file.close()
    throw new FolderInUse(
      `The embedded database in ${folder} is in use by ${holder || 'another process'}. ` +
        'Stop that process first, or set DATABASE_URL: a PostgreSQL server can be shared.',
      { code: 'DATABASE_IN_USE' },
    )
  }
  await file.truncate(0)
  await file.write(`process ${process.pid} on ${hostname()}, started ${new Date().toISOString()}\n`)
  return file
}

const PAUSES_MS = doublingPauses(500, 8000)

/** Starts a new server after the end of the last. */
function supervise(first: Instance, start: () => Instance, progress: (message: string) => void) {
  let instance = first
  let retired = false
  let isAway = false
  let failedStarts = 0
  let retry: NodeJS.Timeout | undefined
  void first.ended.then(ended)

  function ended({ message }: Error): void {
    isAway = true
    if (retired) return
    progress(`${message}; opening it again`)
    startAgain()
  }

  function startAgain(): void {
    instance = start()
    instance.ready.then(started, failed)
  }

  function started(): void {
    isAway = false
    failedStarts = 0
    void instance.ended.then(ended)
    progress('the embedded database is open again')
  }

  function failed({ message }: Error): void {
    if (retired) return
    // Said once: it is the same each time.
    if (failedStarts === 0) progress(`${message}. ${adviceOn(message)} It is tried again`)
    failedStarts++
    retry = setTimeout(startAgain, pauseAfter(PAUSES_MS, failedStarts))
  }

  return {
    /** It may have ended, or not be ready yet. */
    latest: () => instance,
    isAway: () => isAway,
    /** Starts no other server. */
    retire() {
      retired = true
      clearTimeout(retry)
    },
  }
}

/** The embedded PostgreSQL of this process. */
export interface EmbeddedCluster {
  /** A stream of the PostgreSQL protocol; a second one waits for the end of the first. */
  connect(): Duplex
  /** Whether no thread is ready: meanwhile nothing can change. */
  isAway(): boolean
  close(): Promise<void>
}

/**
 * Starts PostgreSQL with PostGIS in a worker thread, on a locked folder. It has one session, so one connection at a time. A
 * connection that is cut before its answer, by a deadline or a failure, ends the thread. A new one starts at once, and
 * recovers from the write-ahead log as after a crash; attempts never end.
 *
 * @throws {OperatorError} when another process holds the folder, or it cannot be used
 */
export async function openEmbedded(
  folder: string,
  progress: (message: string) => void,
): Promise<EmbeddedCluster> {
  const lock = await takeFolder(folder)
  const files = join(folder, 'postgres')
  // Marks the files of a first start, which have no content; other files, such as a backup, are never removed.
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
    const clientBefore = previousClient
    let leave = () => {}
    previousClient = new Promise((resolve) => {
      leave = resolve
    })
    await clientBefore
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
      async disconnected(abandoned) {
        // It leaves nothing to the next client: else the server ends, where it has not done so by itself.
        const isThere = supervisor.latest() === server
        if (isThere && (abandoned || !(await server.forgetClient()))) await server.kill()
        leave()
      },
    }
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
    // All files from now on are closed to other users of the machine.
    process.umask(OTHERS)
    await mkdir(folder, { recursive: true })
    return await lockFolder(folder)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw unusable(folder, error)
  }
}

function unusable(folder: string, error: unknown): OperatorError {
  const reason = formatError(error)
  return new OperatorError(
    `The folder ${folder} cannot be used for the embedded database: ${reason}. ${adviceOn(reason)}`,
  )
}

/** A backup that was put back may be open. */
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
