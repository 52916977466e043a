import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BytePermit, createByteLimiter } from '#src/http/plugins/long-bodies.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'

const FULL = new Error('full')
const GONE = new Error('gone')

const LIMITS = { bytes: 40, bytesEachNetwork: 20, bytesEach: 10, waiting: 3 }

const of = (network: string, caller = network): ClientKey => ({ network, caller })

/** A room, and who got in, in order. */
function openRoom(limits = {}) {
  const room = createByteLimiter({ ...LIMITS, ...limits }, () => FULL)
  const inside: string[] = []
  const places = new Map<string, BytePermit>()
  const ask = (name: string, clientKey: ClientKey, bytes: number, signal = new AbortController().signal) => {
    const entering = room.enter(clientKey, bytes, signal).then((place) => {
      inside.push(name)
      places.set(name, place)
      return place
    })
    // What nobody waits for in a test must not end it.
    entering.catch(() => {})
    return entering
  }
  const shrink = async (name: string, bytes = 0) => {
    places.get(name)?.shrinkTo(bytes)
    await setImmediate()
  }
  return { ask, shrink, inside, placeOf: (name: string) => places.get(name) as BytePermit }
}

describe('a room for bytes', () => {
  test('takes nothing more for a place that was left, however much there is', async () => {
    const { ask, inside, placeOf } = openRoom()
    void ask('gone', of('n'), 10)
    await setImmediate()
    expect(inside).toEqual(['gone'])
    placeOf('gone').leave()
    expect([placeOf('gone').growTo(1), placeOf('gone').bytes]).toEqual([false, 0])
  })

  test('lets nobody hold more than a share, from however many networks', async () => {
    const { ask, shrink, inside } = openRoom()
    for (const [name, network] of ['a', 'b', 'c'].entries()) void ask(`${name}`, of(network, 'same'), 4)
    await setImmediate()
    expect(inside).toEqual(['0', '1'])
    await shrink('0', 2)
    expect(inside).toEqual(['0', '1', '2'])
  })

  test('lets no network hold more than a share, for however many callers', async () => {
    const { ask, shrink, inside } = openRoom()
    for (const name of ['a', 'b', 'c']) void ask(name, of('one', name), 10)
    void ask('d', of('other'), 10)
    await setImmediate()
    expect(inside).toEqual(['a', 'b', 'd'])
    await shrink('b')
    expect(inside).toEqual(['a', 'b', 'd', 'c'])
  })

  test('lets those in first who hold least, whenever they came', async () => {
    const { ask, shrink, inside } = openRoom({ bytes: 20 })
    for (const name of ['a', 'b']) void ask(name, of(name), 8)
    void ask('a again', of('a'), 2)
    void ask('a once more', of('a'), 2)
    void ask('c', of('c'), 10)
    await setImmediate()
    expect(inside).toEqual(['a', 'b', 'a again'])
    await shrink('b')
    expect(inside).toEqual(['a', 'b', 'a again', 'c'])
    await shrink('a')
    expect(inside).toEqual(['a', 'b', 'a again', 'c', 'a once more'])
  })

  test('grows a place as long as there is room, and never asks somebody to wait for that', async () => {
    const { ask, placeOf } = openRoom({ bytes: 12 })
    await ask('a', of('a'), 4)
    await ask('b', of('b'), 4)
    expect(placeOf('a').growTo(8)).toBe(true)
    expect(placeOf('b').growTo(5)).toBe(false)
    expect([placeOf('a').bytes, placeOf('b').bytes]).toEqual([8, 4])
    placeOf('a').shrinkTo(0)
    expect(placeOf('b').growTo(10)).toBe(true)
    expect(placeOf('b').growTo(11)).toBe(false)
  })

  test('refuses the newest of the network that has most waiting', async () => {
    const { ask, shrink, inside } = openRoom()
    const entering = ['a1', 'a2', 'a3', 'a4'].map((name) => ask(name, of('a'), 10))
    const other = ask('b1', of('b'), 10)
    await setImmediate()
    expect(inside).toEqual(['a1', 'b1'])
    const refused = ask('b2', of('b'), 10)
    await expect(entering[3]).rejects.toBe(FULL)
    await shrink('b1')
    expect((await refused).bytes).toBe(10)
    expect((await other).bytes).toBe(0)
  })

  test('lets go who does not wish to wait any more', async () => {
    const { ask, shrink, inside } = openRoom()
    const controller = new AbortController()
    await ask('a', of('a'), 10)
    const leaving = ask('b', of('a'), 10, controller.signal)
    void ask('c', of('a'), 10)
    controller.abort(GONE)
    await expect(leaving).rejects.toBe(GONE)
    await expect(ask('d', of('a'), 10, controller.signal)).rejects.toBe(GONE)
    await shrink('a')
    expect(inside).toEqual(['a', 'c'])
  })

  test('never holds more than its limits, and lets everybody in in the end', async () => {
    const wish = fc.record({ network: fc.nat(3), caller: fc.nat(2), bytes: fc.integer({ min: 1, max: 10 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(wish, { maxLength: 40 }), async (wishes) => {
        const { ask, shrink, inside, placeOf } = openRoom({ waiting: 100 })
        const held = (which: (index: number) => unknown, value: unknown) =>
          inside
            .map(Number)
            .filter((index) => which(index) === value)
            .reduce((sum, index) => sum + placeOf(`${index}`).bytes, 0)
        for (const [index, { network, caller, bytes }] of wishes.entries()) {
          void ask(`${index}`, of(`n${network}`, `n${network}c${caller}`), bytes)
        }
        await setImmediate()
        for (let left = 0; left < wishes.length; left++) {
          expect(held(() => 0, 0)).toBeLessThanOrEqual(LIMITS.bytes)
          for (const index of wishes.keys()) {
            const { network, caller } = wishes[index] as (typeof wishes)[number]
            expect(held((other) => wishes[other]?.network, network)).toBeLessThanOrEqual(
              LIMITS.bytesEachNetwork,
            )
            const of = (other: number) => `${wishes[other]?.network} ${wishes[other]?.caller}`
            expect(held(of, `${network} ${caller}`)).toBeLessThanOrEqual(LIMITS.bytesEach)
          }
          await shrink(inside[left] as string)
        }
        expect(inside).toHaveLength(wishes.length)
      }),
      { numRuns: 50 },
    )
  })
})
