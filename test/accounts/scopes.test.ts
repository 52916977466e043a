import { beforeAll, describe, expect, test } from 'vitest'
import { SCOPES, type Scope } from '#schemas/keys.ts'
import type { Called, Sent } from '#test/setup/calls.ts'
import { documentOf } from '#test/setup/document.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'
import { FIELD_IN_PIXEL } from '#test/setup/releases.ts'

// In every run: what is refused of keys.

const service = openService()

const GIVEN = SCOPES.filter((scope) => scope !== 'admin')
/** All sets of scopes that a user may give a key. */
const SETS = Array.from({ length: 2 ** GIVEN.length - 1 }, (_, index) =>
  GIVEN.filter((_scope, at) => (index + 1) & (1 << at)),
)

const keys: { scopes: Scope[]; by: NonNullable<Sent['by']> }[] = []
beforeAll(async () => {
  const by = service.person
  for (const scopes of SETS) {
    const made = await service.post('/auth/keys', { by, payload: { name: 'x', scopes } })
    keys.push({ scopes, by: made.body.key })
  }
  expect((await keepFields(service, 'coop', [fieldOf('f1', FIELD_IN_PIXEL)])).status).toBe(200)
})

test('each operation takes a key with the scopes that the document says, and no other', async () => {
  const { paths } = await documentOf(service.app, 'json')
  const told: Record<string, string[]> = {}
  const found: Record<string, string[]> = {}
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { operationId = '', description, security }] of Object.entries(operations)) {
      const scopes = documented(description)
      if (security?.length !== 1 || scopes === undefined) continue
      told[operationId] = scopes
      found[operationId] = await neededFor(`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'none')}`)
    }
  }
  expect(Object.keys(told).length).toBeGreaterThan(25)
  expect(found).toEqual(told)
})

describe('advice on saved fields takes both scopes, by whatever door', () => {
  const both = ['advisory', 'history']
  const notified = {
    url: 'https://hooks.example.org/x',
    product: 'yield',
    threshold: { kind: 'relative', value: 1 },
  }

  test.each<[request: string, needed: string[], payload?: object]>([
    ['POST /advisory/yield', both, { field: 'coop/f1' }],
    ['POST /advisory/yield/polygons', both, { fields: 'coop' }],
    ['GET /fields/coop/advice?product=yield', both],
    ['GET /fields/coop/changes?since=synthetic-yield-eth-wheat-2026-07-v1', both],
    ['GET /advisory/yield?place=coop/f1', both],
    ['GET /advisory?place=coop/f1', both],
    ['GET /fields/coop', ['history']],
    ['POST /subscriptions', ['history', 'account'], { ...notified, fields: 'coop' }],
    ['POST /subscriptions', ['account'], { ...notified, lat: 9.5, lng: 38.5 }],
  ])('%s: %j', async (request, needed, payload) => {
    expect(await neededFor(request, payload)).toEqual(needed)
  })
})

const isRefused = ({ status, body }: Called) => status === 403 && body?.code === 'INSUFFICIENT_SCOPE'

/** The scopes that a request needs: those without which no key is let in. */
async function neededFor(request: string, payload?: object): Promise<Scope[]> {
  const admitted: Scope[][] = []
  for (const { scopes, by } of keys) {
    const answer = await service.ask(request, { by, ...(payload && { payload }) })
    if (!isRefused(answer)) admitted.push(scopes)
    else expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope", scope="[a-z ]+"$/)
    expect([request, answer.status]).not.toEqual([request, 401])
  }
  const needed = GIVEN.filter((scope) => admitted.every((scopes) => scopes.includes(scope)))
  const enough = SETS.filter((scopes) => needed.every((scope) => scopes.includes(scope)))
  expect([request, admitted]).toEqual([request, enough])
  return needed
}

/** The scopes that the description of an operation names; undefined where it takes a login. */
function documented(description = ''): string[] | undefined {
  const [, names] = /A key needs the scopes? ((?:`\w+`(?: and )?)+)/.exec(description) ?? []
  return names?.match(/\w+(?=`)/g) ?? undefined
}
