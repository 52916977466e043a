import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { busy, createHashing, createHashingQueues } from '#src/accounts/hashing.ts'
import { createHashingService, type HashingService } from '#src/primary.ts'
import { createRemoteQueues } from '#src/worker.ts'

/** Workers whose messages arrive, each later than it was sent, as those between processes do. */
function createWorkers(count: number) {
  const lines = createHashingQueues(busy, count)
  return Array.from({ length: count }, () => {
    const remote = createRemoteQueues((message) => void setImmediate().then(() => service.hear(message)))
    const service: HashingService = createHashingService(
      lines,
      (message) => void setImmediate().then(() => remote.hear(message)),
    )
    return { hashing: createHashing(remote), service, remote }
  })
}

/** Until all messages have arrived that those before them have led to. */
async function settle(): Promise<void> {
  for (let n = 0; n < 20; n++) await setImmediate()
}

/** Work that goes on until it is told to end. */
function createWork() {
  let running = 0
  let most = 0
  const ends: (() => void)[] = []
  return {
    most: () => most,
    running: () => running,
    async run(): Promise<void> {
      running++
      most = Math.max(most, running)
      await new Promise<void>((resolve) => ends.push(resolve))
      running--
    },
    endOne: () => ends.shift()?.(),
  }
}

describe('passwords of all workers are hashed in the same lines', () => {
  test('what is asked about one account has two places at a time, whichever workers are asked', async () => {
    const workers = createWorkers(3)
    const work = createWork()
    const asked = workers.flatMap(({ hashing }) =>
      [1, 2].map((n) => hashing.run({ account: 'a@example.org', address: `198.51.100.${n}` }, work.run)),
    )
    for (let done = 0; done < asked.length; done++) {
      await settle()
      expect(work.running()).toBe(Math.min(2, asked.length - done))
      work.endOne()
    }
    await Promise.all(asked)
    expect(work.most()).toBe(2)
    expect(workers.map(({ hashing }) => hashing.state().waiting)).toEqual([0, 0, 0])
  })

  test('whoever is known has a line apart where others crowd an account elsewhere', async () => {
    const [attacked, asked] = createWorkers(2)
    const work = createWork()
    for (let n = 1; n <= 4; n++) {
      void attacked?.hashing.run({ account: 'a@example.org', address: `203.0.113.${n}` }, work.run)
    }
    await settle()
    let owner = ''
    const whose = { account: 'a@example.org', address: '198.51.100.1', isKnown: async () => true }
    await asked?.hashing.run(whose, async () => {
      owner = 'is asked about'
    })
    expect(owner).toBe('is asked about')
    expect(work.running()).toBe(2)
  })

  test('a worker that has ended gives back what it held, and what it waited for', async () => {
    const [ended, other] = createWorkers(2)
    const work = createWork()
    for (let n = 1; n <= 4; n++) {
      void ended?.hashing.run({ account: 'a@example.org', address: `203.0.113.${n}` }, work.run)
    }
    await settle()
    ended?.service.close()
    let asking = 0
    await other?.hashing.run({ account: 'a@example.org', address: '198.51.100.1' }, async () => {
      asking = (await (other as NonNullable<typeof other>).remote.ask('a@example.org')).asking
    })
    // Its own, and the one within.
    expect(asking).toBe(2)
  })

  test('what a worker has said before it ended, and is read later, takes no place', async () => {
    const [ended, other] = createWorkers(2)
    const askedBefore = { kind: 'ask', account: 'a@example.org', ticket: 1 } as const
    ended?.service.hear(askedBefore)
    ended?.service.close()
    ended?.service.hear({ ...askedBefore, ticket: 2 })
    const clientKey = { network: 'a@example.org', caller: '203.0.113.1' }
    for (const ticket of [3, 4]) ended?.service.hear({ kind: 'enter', line: 'accounts', clientKey, ticket })
    await settle()
    expect((await (other as NonNullable<typeof other>).remote.ask('a@example.org')).asking).toBe(1)
    let isDone = false
    void other?.hashing.run({ account: 'a@example.org', address: '198.51.100.1' }, async () => {
      isDone = true
    })
    await settle()
    expect(isDone).toBe(true)
  })

  test('where too many wait, whoever has most of them is refused', async () => {
    const [crowd, other] = createWorkers(2)
    const work = createWork()
    const refusals: unknown[] = []
    for (let n = 0; n < 70; n++) {
      crowd?.hashing
        .run({ account: 'a@example.org', address: `203.0.113.${n}` }, work.run)
        .catch((error) => refusals.push(error.code))
    }
    await settle()
    expect(refusals).toEqual(Array(70 - 2 - 64).fill('OVERLOADED'))
    expect(crowd?.hashing.state()).toEqual({ running: 0, waiting: 64, refused: 4 })
    await other?.hashing.run({ account: 'b@example.org', address: '198.51.100.1' }, async () => {})
    expect(refusals).toHaveLength(4)
  })
})
