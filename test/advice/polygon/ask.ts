import type { App } from '#src/http/app.ts'
import { type Caller, call } from '#test/setup/calls.ts'

/** Asks for a product within a polygon or an area, as somebody who has logged in. */
export const askWithin = (app: App, by: Caller, product: string, payload: object) =>
  call(app, `POST /advisory/${product}`, { by, payload })
