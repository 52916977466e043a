import { type Static, Type } from 'typebox'
import { type OwnSettings, refuseShortSecret } from '#src/config.ts'

/** It stands in addresses, and Telegram takes these characters alone. */
const GatewaySecret = Type.String({
  pattern: '^[A-Za-z0-9_-]{32,256}$',
  examples: ['5f1c0e7a9b3d4862c1a07e59d2f4b683'],
})

const Operated = Type.Object({
  SENDER_KEY: Type.Optional(Type.String()),
  SMS_SECRET: Type.Optional(GatewaySecret),
  SMS_PARAMETERS: Type.String({
    pattern: '^[\\w.-]+,[\\w.-]+,[\\w.-]+$',
    examples: ['from,text,id'],
    default: 'from,text,id',
  }),
  USSD_SECRET: Type.Optional(GatewaySecret),
  TELEGRAM_SECRET: Type.Optional(GatewaySecret),
  MESSAGES_A_DAY: Type.Integer({ minimum: 1, maximum: 10_000, default: 50 }),
})

type MessageSettings = Static<typeof Operated>

declare module '#src/config.ts' {
  interface Config extends MessageSettings {}
}

export const settings: OwnSettings = {
  operated: Operated.properties,
  secrets: ['SENDER_KEY', 'SMS_SECRET', 'USSD_SECRET', 'TELEGRAM_SECRET'],
  refuse({ SENDER_KEY, SMS_SECRET, USSD_SECRET, TELEGRAM_SECRET }) {
    refuseShortSecret('SENDER_KEY', SENDER_KEY)
    const channels = Object.entries({ SMS_SECRET, USSD_SECRET, TELEGRAM_SECRET })
    const [channel] = channels.find(([, secret]) => secret) ?? []
    if (channel === undefined || SENDER_KEY !== undefined) return
    // A number without a key could be found by trying all numbers.
    throw new Error(
      `${channel} needs SENDER_KEY, which the numbers of senders are hashed with; \`openssl rand -base64 48\` makes one`,
    )
  },
}
