import { setTimeout } from 'node:timers/promises'
import type { Network } from '../network.ts'
import { serverFault, serverOf } from './server.ts'

const networkFault = (
  name: string,
  happens: string,
  seconds: number,
  begin: (network: Network) => void,
  rest?: Parameters<typeof serverFault>[3],
) =>
  serverFault(
    name,
    happens,
    async (stage) => {
      const { network } = serverOf(stage)
      begin(network)
      await setTimeout(seconds * 1000)
      await network.mend()
    },
    rest,
  )

export const truncated = networkFault(
  'network-truncates',
  'answers of the database break off in the middle, and their connections end, for three seconds',
  3,
  (network) => network.truncate(),
  { recoveryMs: 1500 },
)

const cut = networkFault(
  'network-cut',
  'connections to the database are cut, and refused for five seconds',
  5,
  (network) => network.cut(),
  { recoveryMs: 1500 },
)

const silent = (seconds: number, inWords: string) =>
  networkFault(
    `network-silent-${seconds}-s`,
    `the network to the database swallows everything for ${inWords} seconds`,
    seconds,
    (network) => network.silence(),
  )

const slow = networkFault(
  'network-slow',
  'everything takes 200 ms longer each way between the service and the database, for five seconds',
  5,
  (network) => network.delay(200),
  { unnoticed: ['point'] },
)

export const NETWORK_FAULTS = [cut, silent(5, 'five'), silent(20, 'twenty'), slow, truncated]
