import type { LightMyRequestResponse } from 'fastify'
import type { App } from '#src/http/app.ts'
import type { Person } from '#test/setup/people.ts'

export function refresh(app: App, refresh_token: string): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'POST', url: '/auth/refresh', payload: { refresh_token } })
}

/** Whether an access token is taken. */
export async function isIn(app: App, { headers }: Pick<Person, 'headers'>): Promise<boolean> {
  const { statusCode } = await app.inject({ url: '/user/profile', headers })
  return statusCode === 200
}
