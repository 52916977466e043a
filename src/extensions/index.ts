import { agents } from './agents/index.ts'
import { listed } from './extension.ts'
import { messages } from './messages/index.ts'
import { skill } from './skill/index.ts'
import { texts } from './texts/index.ts'

/** All extensions. Without its line and its folder an extension is gone. */
export const EXTENSIONS = listed([agents, messages, skill, texts])
