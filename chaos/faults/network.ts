import { setTimeout } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import type { Network } from '../network.ts'
import { serverOf } from './server.ts'

function networkFault(
  name: string,
  happens: string,
  seconds: number,
  begin: (network: Network) => void,
  rest: Pick<Fault, 'unnoticed' | 'recoveryMs'>,
): Fault {
  return {
    name,
    on: 'server',
    happens,
    ...rest,
    async inject(stage) {
      const { network } = serverOf(stage)
      begin(network)
      await setTimeout(seconds * 1000)
      await network.mend()
    },
  }
}

export const truncated = networkFault(
  'network-truncates',
  'answers of the database break off in the middle, and their connections end, for three seconds',
  3,
  (network) => network.truncate(),
  { unnoticed: [], recoveryMs: 1500 },
)

export const NETWORK_FAULTS = [
  networkFault(
    'network-cut',
    'connections to the database are cut, and refused for five seconds',
    5,
    (network) => network.cut(),
    { unnoticed: [], recoveryMs: 1500 },
  ),
  networkFault(
    'network-silent-5-s',
    'the network to the database swallows everything for five seconds',
    5,
    (network) => network.silence(),
    { unnoticed: [], recoveryMs: 3000 },
  ),
  networkFault(
    'network-silent-20-s',
    'the network to the database swallows everything for twenty seconds',
    20,
    (network) => network.silence(),
    { unnoticed: [], recoveryMs: 3000 },
  ),
  networkFault(
    'network-slow',
    'everything takes 200 ms longer each way between the service and the database, for five seconds',
    5,
    (network) => network.delay(200),
    { unnoticed: ['point'], recoveryMs: 3000 },
  ),
  truncated,
]
