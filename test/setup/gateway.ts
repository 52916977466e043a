import { randomUUID } from 'node:crypto'
import type { App } from '#src/http/app.ts'
import { call } from './calls.ts'

const SECRET = 'a-secret-of-a-gateway-with-32-characters'

/** The settings of all channels. */
export const CHANNELS = {
  SENDER_KEY: 'a key of 32 bytes at least, of tests alone',
  SMS_SECRET: SECRET,
  USSD_SECRET: SECRET,
  TELEGRAM_SECRET: SECRET,
}

/** Somebody who sends text messages; each call is a new one unless it has an id. */
export function createSender(find: () => App, from = `+2519${Math.floor(Math.random() * 1e8)}`) {
  return async (text: string, { id = randomUUID() as string, lang = '' } = {}): Promise<string> => {
    const query = new URLSearchParams({ secret: SECRET, from, text, id, ...(lang && { lang }) })
    const { status, text: reply } = await call(find(), `GET /messages/sms?${query}`)
    if (status !== 200) throw new Error(`${status} ${reply}`)
    return reply
  }
}
