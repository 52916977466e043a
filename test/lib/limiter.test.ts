import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClientKey, createLimiter, type LimiterLimits, type Permit } from '#src/lib/limiter.ts'

const FULL = new Error('full')

describe('a queue in which callers take turns', () => {
  test('runs as many tasks as may run, and hands a place on when a task ends or fails', async () => {
    const { ask, end, started, queue } = heldQueue({ running: 2 })
    const answers = ['a', 'b', 'c', 'd'].map((name) => ask(name, of('one')))
    await setImmediate()
    expect([started, queue.state().waiting]).toEqual([['a', 'b'], 2])
    await end('a', new Error('no'))
    expect(started).toEqual(['a', 'b', 'c'])
    await end('b')
    expect([started, queue.state().waiting]).toEqual([['a', 'b', 'c', 'd'], 0])
    await expect(answers[0]).rejects.toThrow('no')
    expect(await answers[1]).toBe('b')
  })

  test('when too many wait, whoever has most waiting loses the newest', async () => {
    const { ask, end, started } = heldQueue({ waiting: 2 })
    const [, a2, a3] = ['a1', 'a2', 'a3'].map((name) => ask(name, of('many')))
    const b1 = ask('b1', of('few'))
    await expect(a3).rejects.toBe(FULL)
    await expect(ask('a4', of('many'))).rejects.toBe(FULL)
    await end('a1')
    await end('a2')
    await end('b1')
    expect([started, await a2, await b1]).toEqual([['a1', 'a2', 'b1'], 'a2', 'b1'])
  })

  test('forgets a task whose signal ends while it waits, and leaves one alone that runs', async () => {
    const { ask, end, started, queue } = heldQueue()
    const gone = new AbortController()
    const running = ask('a1', of('a'), gone.signal)
    const waiting = ask('a2', of('a'), gone.signal)
    void ask('b1', of('b'))
    await setImmediate()
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(ask('a3', of('a'), gone.signal)).rejects.toThrow('gone')
    expect(queue.state().waiting).toBe(1)
    await end('a1')
    expect([started, await running]).toEqual([['a1', 'b1'], 'a1'])
  })

  test('holds a place for whoever has entered until they leave, once', async () => {
    const { queue, ask, end, started } = heldQueue()
    const leave = await queue.enter(of('a'))
    for (const name of ['b1', 'b2']) void ask(name, of('b'))
    await setImmediate()
    expect([started, queue.state().waiting]).toEqual([[], 2])
    leave()
    leave()
    await setImmediate()
    expect([started, queue.state().waiting]).toEqual([['b1'], 1])
    await end('b1')
    expect(started).toEqual(['b1', 'b2'])
  })

  test('between two turns of a network every other one that waits has one, whatever comes and ends when', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ network: fc.nat(4), caller: fc.nat(2) }) },
      { weight: 2, arbitrary: fc.constant('end' as const) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { ask, end, started, queue } = heldQueue({ waiting: 1000 })
        const waitingSince = new Map<string, { network: number; at: number }>()
        const turns: { name: string; network: number }[] = []
        const settle = () => {
          for (const name of started.slice(turns.length)) {
            const { network } = waitingSince.get(name) as { network: number }
            waitingSince.delete(name)
            turns.push({ name, network })
          }
        }
        for (const [at, next] of steps.entries()) {
          if (next === 'end') {
            const before = turns.length
            await end(turns.at(-1)?.name ?? '')
            settle()
            // Nobody waits while there is room, and no network that waits is passed twice.
            if (turns.length === before) expect(queue.state().waiting).toBe(0)
          } else {
            const name = `${at}`
            waitingSince.set(name, { network: next.network, at: turns.length })
            void ask(name, of(`n${next.network}`, `c${next.caller}`))
            await setImmediate()
            settle()
          }
          for (const { network, at: since } of waitingSince.values()) {
            const passedBy = turns.slice(since).map((turn) => turn.network)
            if (passedBy.includes(network)) continue
            expect(new Set(passedBy).size).toBe(passedBy.length)
          }
        }
      }),
    )
  })
})

describe('a limiter of bytes', () => {
  const LIMITS = { running: 40, runningEachNetwork: 20, runningEach: 10, waiting: 100 }

  test('grows a permit as long as there is room, and nothing that was released', async () => {
    const { hold } = createLimiter({ ...LIMITS, running: 12 }, () => FULL)
    const [a, b] = [await hold(of('a'), 4), await hold(of('b'), 4)]
    expect([a.growTo(8), b.growTo(5), a.amount, b.amount]).toEqual([true, false, 8, 4])
    a.release()
    expect([a.growTo(1), a.amount, b.growTo(10), b.growTo(11)]).toEqual([false, 0, true, false])
  })

  test('never holds more than its limits, and lets everybody in in the end', async () => {
    const wish = fc.record({ network: fc.nat(3), caller: fc.nat(2), bytes: fc.integer({ min: 1, max: 10 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(wish, { maxLength: 40 }), async (wishes) => {
        const { hold, state } = createLimiter(LIMITS, () => FULL)
        const held: { network: string; caller: string; permit: Permit }[] = []
        for (const { network, caller, bytes } of wishes) {
          const clientKey = of(`n${network}`, `n${network}c${caller}`)
          void hold(clientKey, bytes).then((permit) => held.push({ ...clientKey, permit }))
        }
        const sum = (some: typeof held) => some.reduce((total, { permit }) => total + permit.amount, 0)
        for (let left = 0; left < wishes.length; left++) {
          await setImmediate()
          expect(sum(held)).toBe(state().running)
          expect(sum(held)).toBeLessThanOrEqual(LIMITS.running)
          for (const { network, caller } of held) {
            expect(sum(held.filter((one) => one.network === network))).toBeLessThanOrEqual(20)
            expect(sum(held.filter((one) => one.caller === caller))).toBeLessThanOrEqual(10)
          }
          held[left]?.permit.release()
        }
        expect(held).toHaveLength(wishes.length)
      }),
      { numRuns: 50 },
    )
  })
})

/** A queue whose tasks end when the test says so, and the names of those that have started, in order. */
function heldQueue(limits: Partial<LimiterLimits> = {}) {
  const queue = createLimiter({ running: 1, waiting: 100, ...limits }, () => FULL)
  const started: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const ask = (name: string, clientKey: ClientKey, signal?: AbortSignal) => {
    const answer = queue.run(
      clientKey,
      () => {
        started.push(name)
        return new Promise<string>((resolve, reject) => {
          ends.set(name, (error) => (error ? reject(error) : resolve(name)))
        })
      },
      signal,
    )
    // What nobody waits for in a test must not end it.
    answer.catch(() => {})
    return answer
  }
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error)
    await setImmediate()
  }
  return { queue, ask, end, started }
}

const of = (network: string, caller = network): ClientKey => ({ network, caller })
