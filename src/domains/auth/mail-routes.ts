import type { FastifyReply, FastifyRequest } from 'fastify'
import { EmailConfirmation, MailRequest, PasswordReset } from '#schemas/auth.ts'
import { ref } from '#schemas/common.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { AccountMail } from './account-mail.ts'
import type { TokenPurpose } from './account-token-queries.ts'
import { THROTTLED_ERRORS } from './routes.ts'
import type { TokenDesk } from './token-desk.ts'
import { visitOf } from './visits.ts'

const SAME_ANSWER =
  'The answer is the same, and comes in the same time, whether or not there is an account: it waits for no mail. An e-mail is sent a few mails an hour, and an address may ask for some thirty. Newer tokens end older ones.'

/** What is sent by e-mail, and what is done with it. */
export function mailRoutes(app: App, mail: AccountMail, desk: TokenDesk): void {
  app.route(
    askingRoute(mail, 'password_reset', {
      url: '/password/forgot',
      operationId: 'forgotPassword',
      summary: 'Request a mail to reset the password',
      description: `Sends a token to the e-mail, for \`POST /auth/password/reset\` within an hour. ${SAME_ANSWER}`,
    }),
  )
  app.route(
    askingRoute(mail, 'email_confirmation', {
      url: '/confirm/resend',
      operationId: 'resendConfirmation',
      summary: 'Request another confirmation mail',
      description: `Sends a token to the e-mail, for \`POST /auth/confirm\` within a day, unless it is confirmed. ${SAME_ANSWER}`,
    }),
  )
  app.route(resetRoute(app, desk))
  app.route(confirmRoute(app, desk))
}

function askingRoute(
  mail: AccountMail,
  purpose: TokenPurpose,
  operation: { url: string; operationId: string; summary: string; description: string },
) {
  const { url, ...described } = operation
  return {
    method: 'POST',
    url,
    config: { public: true, caching: 'never' },
    schema: {
      ...described,
      tags: ['auth'],
      body: ref(MailRequest),
      response: {
        202: { type: 'null', description: 'If there is such an account, a mail is on its way.' },
        ...errorResponses(...THROTTLED_ERRORS, 'MAIL_NOT_CONFIGURED'),
      },
    },
    handler: async ({ body, ip }: FastifyRequest<{ Body: MailRequest }>, reply: FastifyReply) => {
      await mail.admit(body.email, ip)
      if (!mail.write(purpose, body.email)) throw overloaded()
      return reply.code(202).send()
    },
  } as const
}

function resetRoute(app: App, desk: TokenDesk) {
  return {
    method: 'POST',
    url: '/password/reset',
    config: { public: true, caching: 'never', ownTurns: true },
    schema: {
      operationId: 'resetPassword',
      summary: 'Choose a new password with a token',
      description:
        'The token is that of a mail, or of the operator (`agro users reset`). All sessions of the account end, and so do its keys unless `end_keys` is false. The e-mail counts as confirmed. Then log in.',
      tags: ['auth'],
      body: ref(PasswordReset),
      response: {
        204: { type: 'null', description: 'The password is changed.' },
        ...errorResponses(...THROTTLED_ERRORS, 'INVALID_TOKEN'),
      },
    },
    handler: async (request: FastifyRequest<{ Body: PasswordReset }>, reply: FastifyReply) => {
      const id = await desk.resetPassword(request.body, visitOf(app, request, reply))
      app.forgetCallers((caller) => caller.id === id)
      return reply.code(204).send()
    },
  } as const
}

function confirmRoute(app: App, desk: TokenDesk) {
  return {
    method: 'POST',
    url: '/confirm',
    config: { public: true, caching: 'never', ownTurns: true },
    schema: {
      operationId: 'confirmEmail',
      summary: 'Confirm the e-mail with a token',
      description:
        'The token is that of the mail that a registration sends where the service asks for it (`EMAIL_CONFIRMATION`). There is an account from then on. Where the e-mail was registered more than once, `password` says which registration it is.',
      tags: ['auth'],
      body: ref(EmailConfirmation),
      response: {
        204: { type: 'null', description: 'The e-mail is confirmed.' },
        ...errorResponses(...THROTTLED_ERRORS, 'INVALID_TOKEN'),
      },
    },
    handler: async (request: FastifyRequest<{ Body: EmailConfirmation }>, reply: FastifyReply) => {
      await desk.confirmEmail(request.body, visitOf(app, request, reply))
      return reply.code(204).send()
    },
  } as const
}
