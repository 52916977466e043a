import { agents } from './agents/index.ts'
import { changes } from './changes/index.ts'
import { citations } from './citations/index.ts'
import { docs } from './docs/index.ts'
import { doctor } from './doctor/index.ts'
import { downloads } from './downloads/index.ts'
import { drafts } from './drafts/index.ts'
import { listed } from './extension.ts'
import { fields } from './fields/index.ts'
import { formats } from './formats/index.ts'
import { messages } from './messages/index.ts'
import { ogc } from './ogc/index.ts'
import { packs } from './packs/index.ts'
import { places } from './places/index.ts'
import { reference } from './reference/index.ts'
import { secondFactor } from './second-factor/index.ts'
import { signatures } from './signatures/index.ts'
import { skill } from './skill/index.ts'
import { stac } from './stac/index.ts'
import { subscriptions } from './subscriptions/index.ts'
import { texts } from './texts/index.ts'
import { tileFiles } from './tile-files/index.ts'
import { transfer } from './transfer/index.ts'

/** All extensions. Without its line and its folder an extension is gone. */
export const EXTENSIONS = listed([
  docs,
  places,
  downloads,
  stac,
  ogc,
  agents,
  changes,
  citations,
  doctor,
  drafts,
  fields,
  formats,
  messages,
  packs,
  reference,
  secondFactor,
  signatures,
  skill,
  subscriptions,
  texts,
  tileFiles,
  transfer,
])
