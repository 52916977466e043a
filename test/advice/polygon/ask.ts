import type { App } from '#src/http/app.ts'
import { call } from '#test/setup/calls.ts'
import type { Person } from '#test/setup/people.ts'

/** Asks for a product within a polygon or an area, as somebody who has logged in. */
export const askWithin = (app: App, by: Pick<Person, 'headers'>, product: string, payload: object) =>
  call(app, `POST /advisory/${product}`, { by, payload })
