import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import type { OpenAPIV3_1 } from 'openapi-types'
import { textOf } from '#test/setup/answers.ts'
import { type Document, operationsOf, validatorOf, withoutReferences } from '#test/setup/document.ts'
import { type Account, type Ask, type Caller, makeCallers, type NextToken } from './callers.ts'
import { type Case, casesOf, draftOf, plainCaseOf } from './cases.ts'
import { wireOf } from './draft.ts'
import { judgeOf, type Verdict } from './judge.ts'
import { provisionsBy } from './provisions.ts'
import type { Schema } from './values.ts'
import { bytesOf, curlOf, exchange, netcatOf } from './wire.ts'

export interface FuzzOptions {
  /** Where the service listens, on this machine. */
  port: number
  runs: number
  /** The same cases come of the same seed. */
  seed: number
  /** The longest that an answer may take. */
  slowestMs: number
  /** Whether each operation is asked once as the document shows it, before what is made up. */
  plainFirst: boolean
  nextToken: NextToken
  /** The account of an admin. */
  admin: Account
}

export interface FuzzReport {
  seed: number
  runs: number
  /** How many requests were legal by the document, illegal, or neither. */
  verdicts: Record<Verdict, number>
  /** How many answers each operation gave, by status. */
  statuses: Record<string, Record<string, number>>
  slowestMs: number
  /** The smallest case that was found to be answered as it must not be, as it can be sent again; null where none was. */
  failure: { problems: string[]; command: string; answers: string[]; path: string } | null
}

/** Asks a service what its document has, nearly has and has not, and holds all answers to the document. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { port, runs, seed, slowestMs, nextToken, admin } = options
  const document = await documentAt(port)
  const validator = validatorOf(document)
  const judge = judgeOf(document, validator, slowestMs)
  const callers = await makeCallers(askAt(port), nextToken, scopesOf(document), admin)
  const provide = provisionsBy(askAt(port), callers, nextToken)
  const report: FuzzReport = {
    seed,
    runs,
    verdicts: { legal: 0, illegal: 0, unclear: 0 },
    statuses: Object.fromEntries(operationsOf(document).map(({ operation }) => [operation.operationId, {}])),
    slowestMs: 0,
    failure: null,
  }

  async function isAnsweredRightly(one: Case): Promise<boolean> {
    const caller = callers.byName[one.caller] as Caller
    await provide(one.operation, one.path, caller)
    const draft = draftOf(one, caller, callers)
    const wire = wireOf(draft, caller.authorization, one.address)
    const plain = bytesOf(wire)
    const bytes = draft.garble?.(plain) ?? plain
    const exchanged = await exchange(port, bytes, wire.method, !draft.garble || draft.broken)
    const problems = judge.problemsOf(draft, caller, exchanged)
    report.verdicts[judge.verdictOn(draft, caller)]++
    report.slowestMs = Math.max(report.slowestMs, exchanged.ms)
    const counted = report.statuses[judge.operationOf(draft)?.operationId ?? '']
    for (const { status } of draft.garble ? [] : exchanged.answers) {
      if (counted) counted[status] = (counted[status] ?? 0) + 1
    }
    if (problems.length > 0) {
      const command = draft.garble ? netcatOf(port, bytes) : curlOf(port, wire)
      const answers = exchanged.answers.map((answer) => `${answer.status} ${textOf(answer).slice(0, 500)}`)
      report.failure = { problems, command, answers, path: '' }
      return false
    }
    const [answer] = exchanged.answers
    if (answer && answer.status < 300 && !draft.garble) {
      // What is registered is no account until it is confirmed.
      if (one.operation.operationId !== 'register') {
        caller.memory.rememberAll(draft.body)
        caller.memory.rememberAll(valueIn(textOf(answer)), one.path)
      }
      if (wire.method === 'DELETE' && one.path.endsWith('}')) {
        for (const id of Object.values(draft.path)) caller.memory.forgetId(id)
      }
      if (wire.method !== 'GET') await renewIfEnded(caller)
    }
    return true
  }

  /** A success may have been that the caller's login, key or account is no more. */
  async function renewIfEnded(caller: Caller): Promise<void> {
    if (caller.scopes === undefined) return
    const [scope] = caller.scopes ?? []
    const path = scope === 'history' ? '/history/my' : scope === 'advisory' ? '/admin' : '/user/profile'
    const token = caller.authorization?.split(' ')[1]
    const { status } = await askAt(port)('GET', path, token)
    if (status === 401) await callers.renew(caller)
  }

  const names = Object.keys(callers.byName)
  const plain = options.plainFirst
    ? operationsOf(document).map((one) => plainCaseOf(document, one, names))
    : []
  const details = await fc.check(
    fc.asyncProperty(casesOf(document, validator, names), isAnsweredRightly),
    // They count as runs.
    { numRuns: runs + plain.length, seed, examples: plain.map((one): [Case] => [one]) },
  )
  // What is no answer at all cannot be judged.
  if (details.failed && !report.failure) throw details.errorInstance
  if (report.failure) report.failure.path = details.counterexamplePath ?? ''
  return report
}

const addressOf = (port: number, path: string) => `http://127.0.0.1:${port}${path}`

/** The document of a service for gateways, which has all media types. */
async function documentAt(port: number): Promise<Document> {
  const response = await fetch(addressOf(port, '/openapi.json?media=all'))
  return withoutReferences((await response.json()) as OpenAPIV3_1.Document)
}

function askAt(port: number): Ask {
  return async (method, path, token, body) => {
    const response = await fetch(addressOf(port, path), {
      method,
      headers: {
        'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.1`,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, value: valueIn(await response.text()) }
  }
}

/** What a key may be made for, as the document says. */
function scopesOf({ components }: Document): string[] {
  const { ApiKeyRequest } = (components?.schemas ?? {}) as Record<string, Schema>
  return (ApiKeyRequest?.properties?.scopes?.items?.enum ?? []) as string[]
}

/** What a text is as JSON; the text itself where it is none. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
