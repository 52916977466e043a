import { randomBytes } from 'node:crypto'
import { messageOf } from '#src/lib/caught.ts'
import { say } from '../output.ts'
import { ask } from './calls.ts'
import type { Stage } from './stage.ts'
import { ACCOUNT_STEPS, type Known, OPEN_STEPS } from './steps.ts'

export interface Telling {
  origin: string
  /** Whether it makes an account, for what takes one. */
  hasAccount: boolean
  stage: Stage
  signal: AbortSignal
}

/** What has come of a tour. */
export interface Story {
  /** How many calls were asked. */
  told: number
  /** How many of them were answered otherwise than the tour tells. */
  otherwise: number
  /** Whether nobody has left before its end. */
  isWhole: boolean
}

const REGISTERING = '/auth/register'
const LEAVING = '/user/profile'

/** Asks the calls of the tour one after the other, until the end or until whoever looks has seen enough. */
export async function tell({ origin, hasAccount, stage, signal }: Telling): Promise<Story> {
  const steps = hasAccount ? [...OPEN_STEPS, ...ACCOUNT_STEPS] : OPEN_STEPS
  const story: Story = { told: 0, otherwise: 0, isWhole: true }
  let known = newVisitor()
  let mayHaveAccount = false
  stage.begin(origin, steps.length)
  try {
    for (const step of steps) {
      const call = step.call(known)
      const scene = { ...step, number: story.told + 1, of: steps.length, origin, call }
      stage.announce(scene)
      if (!(await stage.goesOn())) return { ...story, isWhole: false }
      // Whoever leaves before the answer has come may have one all the same.
      if (call.path === REGISTERING) mayHaveAccount = true
      const answer = await ask(origin, call, signal)
      const isAsTold = answer.status === step.status
      if (isAsTold) {
        known = { ...known, ...step.learn?.(answer) }
        if (call.path === LEAVING) mayHaveAccount = false
      }
      story.told++
      story.otherwise += isAsTold ? 0 : 1
      stage.show(scene, answer, isAsTold)
    }
    return story
  } finally {
    if (mayHaveAccount) await leave(origin, known)
  }
}

/** Somebody whom nobody else is: what is made here may be deleted. */
function newVisitor(): Known {
  const name = randomBytes(6).toString('hex')
  return { email: `tour-${name}@example.org`, password: randomBytes(12).toString('base64url') }
}

/** Deletes the account of a tour that has ended before it did; after Ctrl-C, too. */
async function leave(origin: string, { email, password }: Known): Promise<void> {
  const { signal } = new AbortController()
  try {
    // The token of before may be too old for it.
    const login = await ask(
      origin,
      { method: 'POST', path: '/auth/login', body: { email, password } },
      signal,
    )
    // Nobody has been registered.
    if (login.status === 401) return
    const { access_token: token } = (login.json ?? {}) as { access_token?: string }
    const { status } = await ask(origin, { method: 'DELETE', path: LEAVING, token }, signal)
    if (status !== 200)
      say('note', `The account ${email} is still there: deleting it was answered ${status}.`)
  } catch (error) {
    say('note', `The account ${email} is still there: ${messageOf(error)}`)
  }
}
