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
import { formatError } from '#src/lib/promises.ts'
import { doublingPauses, pauseAfter } from '#src/lib/retry.ts'
import { EmbeddedSocket, isIdle, type ProtocolServer, queryMessage } from './protocol.ts'

/** What an operator can do about an embedded database that cannot be opened, by what it says; the first counts. */
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

/** The sentence on what to do about a reason why the embedded database cannot be opened. */
export function adviceOn(reason: string): string {
  const known = ADVICE.find(([pattern]) => pattern.test(reason))
  return known ? known[1] : 'If its files are damaged, put back a backup, or move them away to begin anew.'
}

/** What the service writes into the folder of its data. */
const OURS = ['postgres', 'postgis', 'lock', 'unfinished', 'jwt-secret']

/** What others than the owner may do: the group, and everybody. */
const OTHERS = 0o077
const STICKY = 0o1000

/** What was found open to other users of the machine. */
interface Closing {
  /** Files and folders that are closed now. */
  closed: number
  /** Those that could not be closed: they are somebody else's, or on a file system that knows no owners. */
  open: string[]
}

/** Has all that this process makes from now on closed to other users of the machine. */
export function keepFilesPrivate(): void {
  process.umask(OTHERS)
}

/**
 * Closes what is ours in a folder to other users of the machine: there are e-mails and hashes in it, also in
 * logs. The folder itself is closed where nothing else is in it; it may be a home folder, or /tmp.
 */
export async function closeToOthers(folder: string): Promise<Closing> {
  const closing: Closing = { closed: 0, open: [] }
  // Windows has lists of who may do what; these modes say nothing there.
  if (process.platform === 'win32') return closing
  for (const path of await pathsOf(await realpath(folder))) {
    if (!(await isOpen(path))) continue
    await chmod(path, (await lstat(path)).mode & ~OTHERS & 0o777).catch(() => {})
    if (await isOpen(path)) closing.open.push(path)
    else closing.closed++
  }
  return closing
}

/** What of ours in a folder is open to other users of the machine; nothing where there is no such folder. */
export async function openToOthers(folder: string): Promise<string[]> {
  if (process.platform === 'win32' || !existsSync(folder)) return []
  const paths = await pathsOf(await realpath(folder))
  const open = await Promise.all(paths.map(isOpen))
  return paths.filter((_, index) => open[index])
}

/** What is ours, the outermost first: then what is inside is out of reach at once. */
async function pathsOf(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  const ours = names.filter((name) => OURS.includes(name))
  const inside = await Promise.all(ours.map((name) => pathsWithin(join(folder, name))))
  // A folder such as /tmp says by its sticky bit that it is for everybody.
  const isOurs = ours.length === names.length && ((await lstat(folder)).mode & STICKY) === 0
  return [...(isOurs ? [folder] : []), ...inside.flat()]
}

async function pathsWithin(path: string): Promise<string[]> {
  if (!(await lstat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  // The mode of a link is nobody's, and what it leads to may be something else.
  const paths = entries.filter((entry) => !entry.isSymbolicLink())
  return [path, ...paths.map(({ parentPath, name }) => join(parentPath, name))]
}

async function isOpen(path: string): Promise<boolean> {
  return ((await lstat(path)).mode & OTHERS) !== 0
}

/** A thread that runs the server, from its start to its end. */
interface Instance {
  /** Rejects where it could not be started, with the reason. */
  ready: Promise<void>
  /** Resolves to what its clients are told. */
  ended: Promise<Error>
  /** Hands over whole protocol messages; resolves to the answer's bytes. */
  exchange(messages: Uint8Array): Promise<Uint8Array>
  /**
   * Does what a server does when a connection ends: the transaction is rolled back; settings, temporary
   * tables, prepared statements and locks of the session are gone.
   *
   * @returns whether it succeeded
   */
  forgetClient(): Promise<boolean>
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Ends it when it has done what it was asked. */
  close(): Promise<void>
}

/**
 * Starts the server in a thread.
 *
 * @param isNew whether there is no database in the folder yet, and it has to be made
 */
export function startInstance(folder: string, isNew: boolean): Instance {
  const worker = new Worker(new URL('./boot.mjs', import.meta.url), {
    workerData: { folder, isNew },
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
  // Errors reach the callers of `ready`; this handler is for a process without one.
  ready.catch(() => {})

  function exchange(messages: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      worker.once('message', answered)
      worker.once('exit', endedBefore)
      worker.postMessage(messages)

      function answered(answer: Uint8Array) {
        worker.off('exit', endedBefore)
        resolve(answer)
      }
      function endedBefore() {
        worker.off('message', answered)
        void ended.then(reject)
      }
    })
  }

  return {
    ready,
    ended,
    exchange,
    async forgetClient() {
      for (const statement of ['rollback', 'discard all']) {
        const answer = await exchange(queryMessage(statement)).catch(() => undefined)
        if (!answer || !isIdle(answer)) return false
      }
      return true
    },
    async kill() {
      await worker.terminate()
    },
    async close() {
      worker.postMessage('close')
      await ended
    },
  }
}

/** Another process has the folder of an embedded database, which says nothing against the database. */
export class FolderInUse extends OperatorError {}

/**
 * Takes the folder of an embedded database for this process alone.
 *
 * Two processes on one folder lose rows silently. The lock is the kernel's, on an open file: a live
 * process cannot lose it, however busy it is, and a dead one cannot keep it.
 *
 * @returns the file to keep open; closing it gives the folder back
 * @throws {FolderInUse} says which process holds the folder
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

/** Has a server run at all times, by starting a new one where the last has ended. */
interface Supervisor {
  /** The latest server, which may have ended, or not be ready yet. */
  latest(): Instance
  /** Whether it has ended and no new one is ready yet. */
  isAway(): boolean
  /** Starts no other server from now on. */
  retire(): void
}

const PAUSES_MS = doublingPauses(500, 8000)

/**
 * Supervises a server that is ready.
 *
 * @param start starts another one
 * @param progress is told when it has ended, why, and that it is back
 */
export function supervise(
  first: Instance,
  start: () => Instance,
  progress: (message: string) => void,
): Supervisor {
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
    latest: () => instance,
    isAway: () => isAway,
    retire() {
      retired = true
      clearTimeout(retry)
    },
  }
}

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
  const reason = formatError(error)
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
