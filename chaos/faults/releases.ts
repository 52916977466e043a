import { setTimeout } from 'node:timers/promises'
import type { Fault, ReleaseStage } from '../fault.ts'

/** @param rounds how often one is published after the other */
export const published = (rounds: number): Fault => ({
  name: 'releases-published',
  on: 'server',
  happens: `two releases of a series take turns ${2 * rounds} times, after 400 ms each, and one of them is deleted`,
  unnoticed: [
    'point',
    'point from the database',
    'batch',
    'polygon',
    'catalog',
    'kept point',
    'history',
    'login',
    'refresh',
  ],
  recoveryMs: 0,
  async inject({ releases }) {
    const { first, second, publish, deleteSecond } = releases as ReleaseStage
    for (let time = 0; time < rounds; time++) {
      await publish(second)
      await setTimeout(400)
      await publish(first)
      await setTimeout(400)
    }
    await publish(second)
    await setTimeout(1000)
    await publish(first)
    await deleteSecond()
  },
})

export const RELEASE_FAULTS = [published(10)]
