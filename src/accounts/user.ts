import type { FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import { DeletionReport, ProfileChanges, UserProfile, userSchemas } from '#schemas/user.ts'
import { inTransaction } from '#src/data/sql.ts'
import { accountDeleted } from '#src/errors.ts'
import { type App, answers } from '#src/http/app.ts'
import { requireCaller } from '#src/http/plugins/authentication.ts'
import { deleteUser, findUser, removePiece, updateUser } from './user-queries.ts'

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
