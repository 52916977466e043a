import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  EmailConfirmation,
  LoginRequest,
  MailRequest,
  PasswordChange,
  PasswordReset,
  RefreshRequest,
  RegisterRequest,
  Tokens,
} from '#schemas/auth.ts'
import { ref } from '#schemas/common.ts'
import { UserProfile } from '#schemas/user.ts'
import { ApiError, overloaded } from '#src/errors.ts'
import type { AccessTokens } from '#src/http/access-tokens.ts'
import { type App, answers, errorResponses, noContent } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import { networkOf } from '#src/lib/network.ts'
import type { AccountMail } from './account-mail.ts'
import { type CredentialService, invalidCredentials, type Passwords } from './credentials.ts'
import type { SessionUse } from './queries.ts'
import type { RegistrationService, TokenService } from './registration.ts'
import { continueSession, type SignedInSession, startSession } from './sessions.ts'
import { passSteps } from './steps.ts'
import { type Sent, THROTTLED_ERRORS, type Throttle, tokenSubjects, tooMany } from './throttle.ts'
import type { TokenPurpose } from './token-queries.ts'
import { findUser } from './user-queries.ts'

const USER_AGENT_LENGTH = 200

const SESSION_ENDED = 'The refresh token is not valid or has ended: log in again.'

export function authRoutes(app: App, passwords: Passwords, registration: RegistrationService): void {
  const { service, throttle } = passwords
  app.route(registerRoute(app, registration))
  app.route(loginRoute(app, passwords))
  app.route(refreshRoute(app, throttle))
  app.route(passwordRoute(app, service))
}

function registerRoute(app: App, service: RegistrationService) {
  const { config, once } = app
  const confirms = config.EMAIL_CONFIRMATION !== 'off'
  return {
    method: 'POST',
    url: '/register',
    config: { public: true, caching: 'never', idempotent: 'by handler', takesOwnPermit: true },
    schema: {
      operationId: 'register',
      summary: 'Create an account',
      description:
        'Then log in with `POST /auth/login`. An e-mail has one account, in upper or lower case. Where the service asks for confirmation, the account exists after `POST /auth/confirm` with the token of a mail. The answer is then the same for known and unknown e-mails.',
      tags: ['auth'],
      body: ref(RegisterRequest),
      response: {
        201: { ...ref(UserProfile), description: 'The account, also before its confirmation.' },
        ...errorResponses(...THROTTLED_ERRORS, 'EMAIL_TAKEN'),
      },
    },
    handler: (request: FastifyRequest<{ Body: RegisterRequest }>, reply: FastifyReply) => {
      async function register() {
        const user = await service.register(request.body, request.exchange)
        reply.code(201).header('location', `${request.basePath}/user/profile`)
        return user
      }
      return once(request.exchange, register, ({ id }) => (confirms ? null : id))
    },
  } as const
}

function loginRoute(app: App, { service, steps, confirms }: Passwords) {
  const { accessTokens, database } = app
  const db = database.writer
  return {
    method: 'POST',
    url: '/login',
    config: { public: true, caching: 'never', secret: true, takesOwnPermit: true },
    schema: {
      operationId: 'login',
      summary: 'Log in with e-mail and password',
      description: [
        'Send the access token with other requests, and refresh the tokens before they expire. A wrong e-mail and a wrong password have the same answer; repeated failures are slowed down.',
        ...steps.map(({ texts }) => texts.login),
      ].join(' '),
      tags: ['auth'],
      body: ref(LoginRequest),
      response: answers(
        Tokens,
        'The tokens.',
        ...THROTTLED_ERRORS,
        'INVALID_CREDENTIALS',
        ...steps.flatMap(({ refusals }) => Object.values(refusals)),
        'EMAIL_NOT_CONFIRMED',
      ),
    },
    handler: async (request: FastifyRequest<{ Body: LoginRequest }>) => {
      const { email, password } = request.body
      const { exchange } = request
      const credentials = await service.check(email, password, exchange)
      const open = await passSteps(
        steps,
        credentials.id,
        request.body,
        exchange,
        ({ refusals }, verdict) => new ApiError(refusals[verdict]),
      )
      return exchange.withDatabasePermit(async () => {
        const session = await startSession(db, credentials, useOf(request), open, request.audit.bind(request))
        const user = session && (await findUser(db, session.userId))
        // Changed or deleted in the moment between.
        if (!user) throw invalidCredentials(confirms)
        return tokensOf(accessTokens, session, user)
      })
    },
  } as const
}

function refreshRoute(app: App, throttle: Throttle) {
  const db = app.database.writer
  return {
    method: 'POST',
    url: '/refresh',
    config: { public: true, caching: 'never', secret: true },
    schema: {
      operationId: 'refresh',
      summary: 'Refresh the tokens',
      description:
        'A refresh token works once. After a lost answer or a 503, send it again within 10 seconds, or within two minutes while the new token is unused. A later use ends the session, since the token may be stolen. The limit is sixty refreshes in ten minutes.',
      tags: ['auth'],
      body: ref(RefreshRequest),
      response: answers(Tokens, 'The new tokens.', ...THROTTLED_ERRORS, 'UNAUTHORIZED'),
    },
    handler: async (request: FastifyRequest<{ Body: RefreshRequest }>) => {
      const subjects = tokenSubjects(request.ip)
      const continuation = await continueSession(
        db,
        request.body.refresh_token,
        useOf(request),
        request.audit.bind(request),
      )
      if (continuation && 'session' in continuation) {
        const user = await findUser(db, continuation.session.userId)
        if (user) return tokensOf(app.accessTokens, continuation.session, user)
      }
      if (continuation && 'tooSoon' in continuation) throw tooMany(continuation.tooSoon)
      if (continuation && 'stolen' in continuation) {
        app.forgetCallers(({ sessionId }) => sessionId === continuation.stolen)
      }
      // A valid token cannot be guessed, so only callers with invalid tokens wait.
      await throttle.refuseBlocked(subjects)
      await throttle.count(subjects)
      throw new ApiError('UNAUTHORIZED', SESSION_ENDED)
    },
  } as const
}

function passwordRoute(app: App, service: CredentialService) {
  return {
    method: 'POST',
    url: '/password',
    config: { login: 'any', caching: 'never', takesOwnPermit: true },
    schema: {
      operationId: 'changePassword',
      summary: 'Change the password',
      description:
        'Needs the current one. All other sessions of the account end; its keys do where `end_keys` is true.',
      tags: ['auth'],
      body: ref(PasswordChange),
      response: noContent('The password is changed.', ...THROTTLED_ERRORS, 'FORBIDDEN'),
    },
    handler: async (request: FastifyRequest<{ Body: PasswordChange }>, reply: FastifyReply) => {
      const { id, sessionId } = requireCaller(request)
      await service.changePassword({ id, sessionId }, request.body, request.exchange)
      app.forgetCallers((caller) => caller.id === id && caller.sessionId !== sessionId)
      return reply.code(204).send()
    },
  } as const
}

function useOf({ ip, headers }: FastifyRequest): SessionUse {
  return { network: networkOf(ip), userAgent: headers['user-agent']?.slice(0, USER_AGENT_LENGTH) ?? null }
}

function tokensOf(
  accessTokens: AccessTokens,
  { id, refreshToken }: SignedInSession,
  user: UserProfile,
): Tokens {
  return {
    access_token: accessTokens.sign(user.id, id),
    token_type: 'Bearer',
    expires_in: accessTokens.lifetime,
    refresh_token: refreshToken,
    user,
  }
}

const SAME_ANSWER =
  'The answer is the same, and comes in the same time, whether or not there is an account: it waits for no mail. An e-mail is sent a few mails an hour, and an address may ask for some thirty. Newer tokens end older ones.'

export function mailRoutes(app: App, mail: AccountMail, service: TokenService): void {
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
  app.route(resetRoute(app, service))
  app.route(confirmRoute(app, service))
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
    handler: async ({ body, ip }: Sent<typeof MailRequest>, reply: FastifyReply) => {
      await mail.admit(body.email, ip)
      if (!mail.write(purpose, body.email)) throw overloaded()
      return reply.code(202).send()
    },
  } as const
}

function resetRoute(app: App, service: TokenService) {
  return {
    method: 'POST',
    url: '/password/reset',
    config: { public: true, caching: 'never', takesOwnPermit: true },
    schema: {
      operationId: 'resetPassword',
      summary: 'Choose a new password with a token',
      description:
        'The token is that of a mail, or of the operator (`agro users reset`). All sessions of the account end, and so do its keys unless `end_keys` is false. The e-mail counts as confirmed. Then log in.',
      tags: ['auth'],
      body: ref(PasswordReset),
      response: noContent('The password is changed.', ...THROTTLED_ERRORS, 'INVALID_TOKEN'),
    },
    handler: async (request: FastifyRequest<{ Body: PasswordReset }>, reply: FastifyReply) => {
      const id = await service.resetPassword(request.body, request.exchange)
      app.forgetCallers((caller) => caller.id === id)
      return reply.code(204).send()
    },
  } as const
}

function confirmRoute(_app: App, service: TokenService) {
  return {
    method: 'POST',
    url: '/confirm',
    config: { public: true, caching: 'never', takesOwnPermit: true },
    schema: {
      operationId: 'confirmEmail',
      summary: 'Confirm the e-mail with a token',
      description:
        'The token is that of the mail that a registration sends where the service asks for it (`EMAIL_CONFIRMATION`). There is an account from then on. Where the e-mail was registered more than once, `password` says which registration it is.',
      tags: ['auth'],
      body: ref(EmailConfirmation),
      response: noContent('The e-mail is confirmed.', ...THROTTLED_ERRORS, 'INVALID_TOKEN'),
    },
    handler: async (request: FastifyRequest<{ Body: EmailConfirmation }>, reply: FastifyReply) => {
      await service.confirmEmail(request.body, request.exchange)
      return reply.code(204).send()
    },
  } as const
}
