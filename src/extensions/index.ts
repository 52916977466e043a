import { agents } from './agents/index.ts'
import { citations } from './citations/index.ts'
import { listed } from './extension.ts'
import { messages } from './messages/index.ts'
import { ogc } from './ogc/index.ts'
import { packs } from './packs/index.ts'
import { stac } from './stac/index.ts'

/** All extensions. Without its line and its folder an extension is gone. */
export const EXTENSIONS = listed([stac, ogc, agents, messages, packs, citations])
