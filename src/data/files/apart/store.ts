import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '#src/errors.ts'
import { FileMissing, type FileStore, type ListedFile, StorageUnavailable } from '../store.ts'

/** What the process of a folder is asked. A list is begun, and then gone on with until there is nothing left. */
export type Question =
  | { ask: 'read'; name: string; offset: number; length: number }
  | { ask: 'canWrite' }
  | { ask: 'list' }
  | { ask: 'next' }

export interface Answers {
  read: Uint8Array
  canWrite: boolean | null
  list: null
  next: ListedFile[]
}

/** What comes back: the answer, or why there is none. */
export type StoreAnswer =
  | { id: number; answer: Answers[keyof Answers] }
  | { id: number; failure: { isMissing: boolean; message: string } }

const BOOT = fileURLToPath(new URL('./boot.mjs', import.meta.url))

const HOW_TO_START: ForkOptions = {
  // What this process was started with is not for a file of its own.
  execArgv: [],
  serialization: 'advanced',
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
}

/** A folder that another process reads. */
export interface FolderApart extends FileStore {
  /** Ends the other process, or leaves it to the system where the disk does not let it end. */
  end(): void
}

/**
 * Makes the store of a folder for a process that has to be able to end, whatever the disk does: none does in which a read
 * hangs. What is asked of it is asked of another process, which is begun by the first question. After one that was
 * too late nothing more is asked. It cannot be written to.
 *
 * @param longestMs that an answer is waited for
 */
export function openFolderApart(folder: string, longestMs: number): FolderApart {
  const waiting = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>()
  let child: ChildProcess | undefined
  let failure: StorageUnavailable | undefined
  let asked = 0

  const unavailable = (reason: string) =>
    new StorageUnavailable(`the files in ${folder} cannot be reached: ${reason}`)

  function fail(reason: string): void {
    failure ??= unavailable(reason)
    for (const { reject } of waiting.values()) reject(failure)
    waiting.clear()
    end()
  }

  function start(): ChildProcess {
    const started = fork(BOOT, [folder], HOW_TO_START)
    started.on('message', (message: StoreAnswer) => {
      const one = waiting.get(message.id)
      waiting.delete(message.id)
      if ('answer' in message) one?.resolve(message.answer as never)
      else if (message.failure.isMissing) one?.reject(new FileMissing(message.failure.message))
      else one?.reject(new StorageUnavailable(message.failure.message))
    })
    started.on('error', ({ message }) => fail(message))
    started.on('exit', () => fail('the process that reads them has ended'))
    return started
  }

  function end(): void {
    if (!child) return
    child.removeAllListeners()
    // It may have gone by now.
    child.on('error', () => {})
    child.kill('SIGKILL')
    if (child.connected) child.disconnect()
    child.unref()
    child = undefined
  }

  async function ask<Kind extends keyof Answers>(
    question: Extract<Question, { ask: Kind }>,
  ): Promise<Answers[Kind]> {
    if (failure) throw failure
    child ??= start()
    const id = ++asked
    const answer = new Promise<Answers[Kind]>((resolve, reject) => waiting.set(id, { resolve, reject }))
    child.send({ id, ...question })
    const timer = setTimeout(() => fail('they do not answer in time'), longestMs)
    return answer.finally(() => clearTimeout(timer))
  }

  async function refuse(): Promise<never> {
    throw new OperatorError(`${folder} is only looked at here.`)
  }

  return {
    place: folder,
    async read(name, offset, length) {
      const { buffer, byteOffset, byteLength } = await ask({ ask: 'read', name, offset, length })
      return Buffer.from(buffer, byteOffset, byteLength)
    },
    canWrite: () => ask({ ask: 'canWrite' }),
    async *list() {
      await ask({ ask: 'list' })
      for (;;) {
        const page: ListedFile[] = await ask({ ask: 'next' })
        if (page.length === 0) return
        yield* page
      }
    },
    write: refuse,
    remove: refuse,
    end,
  }
}
