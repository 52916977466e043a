import type { Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import type { ToWorker } from './messages.ts'

/** A worker, from the start of its process to its end. */
export interface Member {
  /** From 1; whoever takes its place has the same. */
  readonly number: number
  isReady: boolean
  /** It is ready, but has not answered for a while. */
  hangs: boolean
  tell(message: ToWorker): void
  /** Hands a connection over. */
  take(socket: Socket): void
  /** Gives back the connections that are still to be handed over. */
  giveBack(): void
  /** Resolves when no connection is to be handed over any more. */
  settled(): Promise<void>
  kill(): void
  ended: Promise<End>
}

export interface End {
  /** The exit code, or 1 where a signal has ended it or there was no process. */
  code: number
  why: string
}

/** @param returned a connection that was to be handed over has not left this process */
export function memberOf(worker: Worker, number: number, returned: (socket: Socket) => void): Member {
  /** The one that Node is handing over: the next goes when the worker has got the one before it. */
  let leaving: Socket | undefined
  /** Those behind it, which another worker could take. */
  const waiting: Socket[] = []
  const whenSettled: (() => void)[] = []

  const isSettled = () => leaving === undefined && waiting.length === 0

  function settle(): void {
    if (isSettled()) for (const resolve of whenSettled.splice(0)) resolve()
  }

  function handOver(): void {
    const socket = leaving ? undefined : waiting.shift()
    if (!socket) return
    leaving = socket
    // Left open: what Node closes by itself it would keep for ever where the worker ends before it has answered.
    worker.send({ kind: 'connection' }, socket, { keepOpen: true }, (error) => {
      if (leaving !== socket) return
      leaving = undefined
      if (!error) socket.destroy()
      // Later: the end of the worker has to be noticed in between.
      else setImmediate(returned, socket)
      handOver()
      settle()
    })
  }

  function giveBack(): void {
    for (const socket of waiting.splice(0)) returned(socket)
    settle()
  }

  const member: Member = {
    number,
    isReady: false,
    hangs: false,
    // What is told to one that is about to end is told to nobody.
    tell: (message) => void (worker.isConnected() && worker.send(message, () => {})),
    take(socket) {
      waiting.push(socket)
      handOver()
    },
    giveBack,
    settled: async () => {
      if (!isSettled()) await new Promise<void>((resolve) => whenSettled.push(resolve))
    },
    kill: () => void worker.process.kill('SIGKILL'),
    ended: endOf(worker),
  }
  void member.ended.then(() => {
    // Before, or it would be given them again.
    member.isReady = false
    const left = leaving
    leaving = undefined
    if (left) returned(left)
    giveBack()
  })
  return member
}

function endOf(worker: Worker): Promise<End> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) =>
      resolve({ code: code ?? 1, why: signal ?? `code ${code}` }),
    )
    // Also said of a process that is there, which could not be killed, say: its exit is still to come.
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) resolve({ code: 1, why: message })
    })
  })
}
