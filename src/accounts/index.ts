import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { authSchemas, LoginRequest, Reauthentication, sessionSchemas } from '#schemas/auth.ts'
import { ref } from '#schemas/common.ts'
import { SCOPES } from '#schemas/keys.ts'
import { DeletionReport, ProfileChanges, UserProfile, userSchemas } from '#schemas/user.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { accountDeleted } from '#src/errors.ts'
import { type App, answers } from '#src/http/app.ts'
import { type Caller, requireCaller } from '#src/http/caller.ts'
import type { Accounts } from '#src/http/plugins/authentication.ts'
import type { LogFailure } from '#src/http/plugins/logs.ts'
import { MINUTE_MS } from '#src/lib/dates.ts'
import { createAccountMail } from './account-mail.ts'
import type { Passwords } from './credentials.ts'
import { deleteOldUsage, findKeyUser, touchKey } from './key-queries.ts'
import type { Mailer } from './mailer.ts'
import {
  deleteEndedSessions,
  deleteOldFailures,
  endExpiredSessions,
  findSessionUser,
  isFreshSession,
} from './queries.ts'
import { createRegistrationService, createTokenService } from './registration.ts'
import { authRoutes, mailRoutes } from './routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { type LoginSteps, withMembers } from './steps.ts'
import { deleteExpiredRegistrations, tokenHash } from './token-queries.ts'
import { deleteUser, findUser, removePiece, updateUser } from './user-queries.ts'

export async function cleanUp(db: Db, stop?: AbortSignal): Promise<void> {
  for (const removePiece of [deleteExpiredRegistrations, endExpiredSessions, deleteEndedSessions]) {
    while (!stop?.aborted && (await removePiece(db)) > 0);
  }
  if (stop?.aborted) return
  await deleteOldFailures(db)
  await deleteOldUsage(db)
}

export async function auth(app: App, { passwords }: { passwords: Passwords }): Promise<void> {
  const { steps, throttle, runThrottled, confirms } = passwords
  const withSteps: object[] = [LoginRequest, Reauthentication]
  for (const schema of [...authSchemas, ...sessionSchemas]) {
    app.addSchema(withSteps.includes(schema) ? withMembers(schema, steps) : schema)
  }
  const { config, database } = app
  const db = database.writer
  const log = app.log.child({ module: 'auth' })
  const mail = createAccountMail(db, throttle, config, await mailerOf(app, log))
  authRoutes(app, passwords, createRegistrationService(db, throttle, runThrottled, mail, confirms))
  sessionRoutes(app, passwords)
  mailRoutes(app, mail, createTokenService(db, throttle, runThrottled))
  app.jobs.add(
    'delete-ended-sessions',
    { everyMs: 10 * MINUTE_MS, atOnce: true, failure: 'expired sessions were not deleted' },
    (signal) => cleanUp(db, signal),
  )
}

/** Undefined without a mail server. */
async function mailerOf(app: App, log: FastifyBaseLogger): Promise<Mailer | undefined> {
  const { SMTP_URL, MAIL_FROM } = app.config
  if (SMTP_URL === undefined || MAIL_FROM === undefined) return undefined
  // Loading takes a tenth of a second and 15 MB, and most services send nothing.
  const { createMailer } = await import('./mailer.ts')
  const mailer = createMailer({ url: SMTP_URL, from: MAIL_FROM, log })
  app.addHook('onClose', () => mailer.close())
  const { metrics } = app
  metrics.observe('agro_mails_waiting', () => mailer.state().waiting)
  metrics.observe('agro_mails_sent_total', () => mailer.state().sent)
  metrics.observe('agro_mails_failed_total', () => mailer.state().failed)
  return mailer
}

/** Finds callers at the primary, since a replica lags behind. */
export function createAccounts(db: Db, steps: LoginSteps, logFailure: LogFailure): Accounts {
  async function withPresentRole(caller: Caller): Promise<Caller> {
    if (caller.role !== 'admin') return caller
    for (const { refuseAdmin, isOn } of steps) {
      if (refuseAdmin && !(await isOn(db, caller.id))) return { ...caller, role: 'user', refuseAdmin }
    }
    return caller
  }

  return {
    async callerOfSession(sessionId, userId) {
      const user = await findSessionUser(db, sessionId)
      if (user?.id !== userId) return undefined
      return withPresentRole({ ...user, sessionId, keyId: null, scopes: SCOPES })
    },
    async callerOfKey(key) {
      const found = await findKeyUser(db, tokenHash(key))
      if (!found) return undefined
      // The request goes on meanwhile, also where this fails.
      touchKey(db, found.keyId).catch((error) => logFailure(error, 'the use of a key was not recorded'))
      // A key has less rights than its owner: those of an admin need a scope.
      const role = found.scopes.includes('admin') ? found.role : 'user'
      return withPresentRole({ ...found, role, sessionId: null })
    },
    isFresh: (sessionId) => isFreshSession(db, sessionId),
  }
}

export async function user(app: App): Promise<void> {
  for (const schema of userSchemas) app.addSchema(schema)
  const db = app.database.writer
  app.jobs.add(
    'remove-accounts',
    { atOnce: true, failure: 'deleted accounts were not cleaned up; will retry' },
    () => removePiece(db),
  )

  app.get(
    '/profile',
    {
      config: { scope: 'account', caching: 'never' },
      schema: {
        operationId: 'getProfile',
        summary: 'Get your account',
        description: 'The account of the caller.',
        tags: ['user'],
        response: answers(UserProfile, 'The account.'),
      },
    },
    async (request) => living(await findUser(db, requireCaller(request).id)),
  )

  app.patch(
    '/profile',
    {
      config: { login: 'any', caching: 'never' },
      schema: {
        operationId: 'changeProfile',
        summary: 'Change your account',
        description: 'Changes the name and the organisation. E-mail, role and id stay as they are.',
        tags: ['user'],
        body: ref(ProfileChanges),
        response: answers(UserProfile, 'The account after the change.', 'INVALID_PARAMETERS'),
      },
    },
    async (request: FastifyRequest<{ Body: ProfileChanges }>) =>
      living(await updateUser(db, requireCaller(request).id, request.body)),
  )

  app.delete(
    '/profile',
    {
      config: { login: 'fresh', caching: 'never' },
      schema: {
        operationId: 'deleteProfile',
        summary: 'Delete your account',
        description:
          'Deletes the account for good, with its history, feedback and counts. All tokens and keys stop working, and the e-mail is free. A long history is deleted in the background. The audit record keeps ids, times and networks until it expires, and no name or e-mail. The answer counts deleted and anonymous rows.',
        tags: ['user'],
        response: answers(DeletionReport, 'The result.'),
      },
    },
    async (request) => {
      const { id } = requireCaller(request)
      const removed = await inTransaction(db, async (trx) => {
        const counts = await deleteUser(trx, id)
        await request.audit(trx, { kind: 'account_deleted' })
        return counts
      })
      app.forgetCallers((caller) => caller.id === id)
      app.jobs.wake('remove-accounts')
      return { removed: { ...removed }, anonymised: {} }
    },
  )
}

/** The account may have been deleted since the look-up of the caller. */
function living(user: UserProfile | undefined): UserProfile {
  if (user) return user
  throw accountDeleted()
}
