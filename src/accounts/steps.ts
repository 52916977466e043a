import type { TObject, TProperties } from 'typebox'
import type { Db } from '#src/data/tables.ts'
import type { ApiError, ErrorCode } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'

/** What a login takes beside a right password, from accounts that have it on. */
export interface LoginStep {
  /** Optional members of the bodies of a login and of `POST /auth/reauthenticate`. */
  members: TProperties
  /** What the document says of the members, and at the end of both operations; and a sentence where one is missing. */
  texts: { members: string; login: string; reauthentication: string; missing: string }
  /** Of a login. */
  refusals: { missing: ErrorCode; wrong: ErrorCode }
  isOn(db: Db, userId: string): Promise<boolean>
  /** Judges the proof beside a right password, and uses it up. */
  judge(
    userId: string,
    shown: object,
    exchange: Exchange,
  ): Promise<'not needed' | 'right' | 'missing' | 'wrong'>
  /** Refuses operations of admins to one without the step; null where admins need none. */
  refuseAdmin: (() => ApiError) | null
}

export type LoginSteps = readonly LoginStep[]

/** Gives the steps that were not needed. @throws {ApiError} of `refuse` */
export async function passSteps(
  steps: LoginSteps,
  userId: string,
  shown: object,
  exchange: Exchange,
  refuse: (step: LoginStep, verdict: 'missing' | 'wrong') => ApiError,
): Promise<LoginSteps> {
  const open: LoginStep[] = []
  for (const step of steps) {
    const verdict = await step.judge(userId, shown, exchange)
    if (verdict === 'missing' || verdict === 'wrong') throw refuse(step, verdict)
    if (verdict === 'not needed') open.push(step)
  }
  return open
}

/** The first step that an account has on. */
export async function findStepOn(steps: LoginSteps, db: Db, userId: string): Promise<LoginStep | undefined> {
  for (const step of steps) if (await step.isOn(db, userId)) return step
  return undefined
}

/** The schema of a body with the members of steps, which has no description of its own. */
export function withMembers(schema: TObject, steps: LoginSteps): TObject {
  const properties = Object.assign({}, schema.properties, ...steps.map(({ members }) => members))
  const description = steps.map(({ texts }) => texts.members).join(' ')
  return { ...schema, properties, ...(description && { description }) }
}
