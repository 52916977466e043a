import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import type { Cleanup } from './cleanup.ts'

/** A process that answers HTTP on a port of this machine. */
export interface Server {
  port: number
  pid: number
  /** Seconds from the start of the process until it said that it listens. */
  startedIn: number
  /** Memory that it holds now and the most it ever held, in MiB; the latter on Linux alone. */
  memory(): { resident: number; peak: number | undefined }
  /** What it and the processes that it has started have computed so far; on Linux alone. */
  cpuSeconds(): number
  /** Lines of its log so far, at the level warn or above. */
  complaints(): number
  stop(): Promise<void>
  /** The code that the process ends with; null where a signal ended it. */
  ended: Promise<number | null>
}

const START_TIMEOUT_MS = 180_000
const STOP_TIMEOUT_MS = 15_000
const COMPLAINT = /^\{"level":[456]0,/
/** What no run expects: with the stack of what was answered 500. */
const MISTAKE = /^\{"level":50,.*"err":\{/
const LONGEST_LINE = 2000

/** What Node is given by `npm start` in a folder with a version of the service. */
export function startArgumentsIn(folder: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return (scripts.start as string).replace(/^(exec )?node /, '').split(' ')
}

/**
 * Starts a server in a process of its own, and waits until it prints the address it listens at. It gets no
 * settings but those given: what this shell sets would change figures.
 *
 * @param nodeArguments what Node is given; the last one is the server's file
 * @param folder where it is started
 */
export async function startServer(
  cleanup: Cleanup,
  nodeArguments: string[],
  settings: Record<string, string>,
  folder = '.',
): Promise<Server> {
  const { PATH, HOME, TMPDIR } = process.env
  const started = performance.now()
  const child = spawn(process.execPath, nodeArguments, {
    cwd: folder,
    env: { PATH, HOME, TMPDIR, ENV_FILE: devNull, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A Ctrl-C of the terminal is for the bench, which stops its processes in order.
    detached: process.platform !== 'win32',
  })
  const stop = cleanup.add(() => stopProcess(child))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let complaints = 0
  createInterface(child.stdout).on('line', (line) => {
    if (COMPLAINT.test(line)) complaints++
    if (MISTAKE.test(line)) console.error(line.slice(0, LONGEST_LINE))
  })
  const port = await listeningPort(child, nodeArguments.at(-1) as string)
  const startedIn = (performance.now() - started) / 1000
  const { pid } = child as { pid: number }
  return {
    port,
    pid,
    startedIn,
    memory: () => memoryOf(pid),
    cpuSeconds: () => cpuSecondsOf(pid),
    complaints: () => complaints,
    stop,
    ended,
  }
}

function listeningPort(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (reason: string) => reject(new Error(`${file} ${reason}:\n${output}`))
    const timer = globalThis.setTimeout(() => fail('did not start in time'), START_TIMEOUT_MS)
    child.once('error', reject)
    child.once('exit', () => fail('ended before it listened'))
    child.stdout?.on('data', (text) => {
      output += text
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      resolve(Number(port))
    })
  })
}

/** A port that nobody listens at now. */
export const freePort = async (): Promise<number> => (await tryPort(0)) as number

/** Listens at a port for a moment, at any where it is 0; undefined where somebody else listens there. */
function tryPort(wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(undefined))
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const late = new AbortController()
  const killer = setTimeout(STOP_TIMEOUT_MS, undefined, { signal: late.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  )
  await exited
  late.abort()
  await killer
}

const MIB_IN_KIB = 1024

function memoryOf(pid: number): { resident: number; peak: number | undefined } {
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kibOf = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
    return { resident: kibOf('VmRSS') / MIB_IN_KIB, peak: kibOf('VmHWM') / MIB_IN_KIB }
  }
  const resident = Number(execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' }))
  return { resident: resident / MIB_IN_KIB, peak: undefined }
}

/** Of the threads of a process and of those that it has started, as the scheduler counts them: in nanoseconds. */
function cpuSecondsOf(pid: number): number {
  const threads = [pid, ...childrenOf(pid)].flatMap((one) =>
    readdirSync(`/proc/${one}/task`).map((thread) => `/proc/${one}/task/${thread}/schedstat`),
  )
  return threads.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]), 0) / 1e9
}

/** The process that has started a session. */
export const serverOf = (session: number): number => parentOf(`${session}`) as number

/** Of a process and all that it has started, also of those that have ended. On Linux alone. */
export function cpuSecondsOfServer(server: number): number {
  const fields = readFileSync(`/proc/${server}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return cpuSecondsOf(server) + fields.slice(13, 15).reduce((sum, ticks) => sum + Number(ticks) / TICKS, 0)
}

/** In a second. */
const TICKS = 100

/** The processes that a process has started and that have not ended. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === parent)
    .map(Number)
}

/** Undefined where the process has ended meanwhile. */
function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** The first of as many ports that nobody listens at now, below those that the system gives away. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 500) * count
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if ((await Promise.all(ports.map(tryPort))).every(Boolean)) return first
  }
}
