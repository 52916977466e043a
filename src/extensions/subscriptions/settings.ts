import { type Static, Type } from 'typebox'
import type { OwnSettings } from '#src/config.ts'

const Operated = Type.Object({ WEBHOOK_ALLOW_PRIVATE: Type.Boolean({ default: false }) })
const Bounds = Type.Object({
  SUBSCRIPTIONS_PER_USER: Type.Integer({ minimum: 0, maximum: 1000, default: 20 }),
})

type SubscriptionSettings = Static<typeof Operated> & Static<typeof Bounds>

declare module '#src/config.ts' {
  interface Config extends SubscriptionSettings {}
}

export const settings: OwnSettings = { operated: Operated.properties, bounds: Bounds.properties }
