import { setTimeout } from 'node:timers/promises'
import type { Fault, ReleaseStage } from '../fault.ts'

export const published: Fault = {
  name: 'releases-published',
  on: 'server',
  happens: 'two releases of a series take turns twenty times in eight seconds, and one of them is deleted',
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
    for (let time = 0; time < 10; time++) {
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
}

export const RELEASE_FAULTS = [published]
