import type { Server } from 'node:net'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'

/** Where to listen. For `localhost` there are two addresses, and only what the first lets in is counted and ended in order. */
export function placeOf({ HOST, PORT }: Config): { host: string; port: number } {
  return { host: HOST === 'localhost' ? '127.0.0.1' : HOST, port: PORT }
}

/** @throws {OperatorError} which says why a server cannot listen */
export function cannotListen({ message }: Error): never {
  throw new OperatorError(`Cannot listen: ${message}. Set HOST or PORT.`)
}

/** The port that a server listens at, which is another one than is set where that is 0. */
export function portOf(server: Server, { PORT }: Config): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : PORT
}
