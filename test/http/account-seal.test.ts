import { describe, expect, test } from 'vitest'
import { createAccountSeal, renewAll, type SealedRows } from '#src/http/account-seal.ts'

const [OLD, NEW] = ['the old secret, of more than 32 bytes', 'the new secret, of more than 32 bytes']
const [AMINA, BEKELE] = ['5c3f0c52-0c1e-4d0e-9d0e-0d6f2f1c7a01', '5c3f0c52-0c1e-4d0e-9d0e-0d6f2f1c7a02']
const PURPOSE = 'two-factor secret'
const SECRET = Buffer.from('what nobody may read')

const [before, during, after] = [
  createAccountSeal([OLD], PURPOSE),
  createAccountSeal([NEW, OLD], PURPOSE),
  createAccountSeal([NEW], PURPOSE),
]

describe('a sealed secret', () => {
  const sealed = before.seal(AMINA, SECRET)

  test('is opened by the secret of the service that it was sealed with, be that the previous one', () => {
    expect([before, during].map(({ open }) => open(AMINA, sealed))).toEqual([SECRET, SECRET])
    expect(after.open(AMINA, sealed)).toBeUndefined()
  })

  test('is of no use for another account, for another purpose, and where it was changed', () => {
    const changed = Buffer.from(sealed)
    changed[changed.length - 1] = (changed.at(-1) as number) ^ 1
    expect([
      before.open(BEKELE, sealed),
      createAccountSeal([OLD], 'webhook secret').open(AMINA, sealed),
      before.open(AMINA, changed),
      before.open(AMINA, Buffer.alloc(0)),
    ]).toEqual([undefined, undefined, undefined, undefined])
  })

  test('does not show that it is the same as another', () => {
    expect(before.seal(AMINA, SECRET)).not.toEqual(sealed)
    expect(sealed.includes(SECRET)).toBe(false)
  })

  test.each([
    ['two-factor secret', '5+xNSYH4P52XTMnZ9ZknyNZGsFnMM8ppk9EWhlAqiOmfdei5m/CXOYPdjLTnVidI'],
    ['webhook secret', 'aMhji/XgCZV1IyEZrTaIX4P2TVQE73KWjeDawY9vvhtAs9avoDVI76ia0kVvwJ71'],
  ])('is opened as it has long been stored: %s', (purpose, stored) => {
    expect(createAccountSeal([OLD], purpose).open(AMINA, Buffer.from(stored, 'base64'))).toEqual(SECRET)
  })
})

describe('renewal', () => {
  /** Rows in memory, with what was done to them. */
  function rowsOf(secrets: Map<string, Buffer[]>) {
    const pages: number[] = []
    const rows: SealedRows = {
      async list(last, most) {
        const ids = [...secrets.keys()].filter((id) => last === undefined || id > last).slice(0, most)
        pages.push(ids.length)
        return ids.map((id) => ({ id, userId: AMINA, sealed: [...(secrets.get(id) as Buffer[])] }))
      },
      async replace(id, sealed, replacement) {
        const now = secrets.get(id)?.map((one) => (one === sealed ? replacement : one)) as Buffer[]
        secrets.set(id, now)
      },
    }
    return { rows, pages }
  }
  const idOf = (index: number) => String(index).padStart(4, '0')

  test('seals all rows anew, page by page, with all secrets that they have, and then none', async () => {
    const sealed = before.seal(AMINA, SECRET)
    const secrets = new Map(
      Array.from({ length: 1001 }, (_, index) => [idOf(index), index % 2 ? [sealed] : [sealed, sealed]]),
    )
    const { rows, pages } = rowsOf(secrets)
    expect(await renewAll(during, rows)).toBe(1502)
    expect(pages).toEqual([500, 500, 1])
    const opened = [...secrets.values()].flat().map((one) => after.open(AMINA, one))
    expect(opened.every((one) => one?.equals(SECRET))).toBe(true)
    expect(await renewAll(during, rows)).toBe(0)
  })

  test('leaves alone what is sealed with the present secret, and what nobody can open', async () => {
    const [present, lost] = [
      after.seal(AMINA, SECRET),
      createAccountSeal(['a lost secret, of more than 32 bytes'], PURPOSE).seal(AMINA, SECRET),
    ]
    const secrets = new Map([[idOf(1), [present, lost, before.seal(AMINA, SECRET)]]])
    expect(await renewAll(during, rowsOf(secrets).rows)).toBe(1)
    expect(secrets.get(idOf(1))?.slice(0, 2)).toEqual([present, lost])
  })
})
