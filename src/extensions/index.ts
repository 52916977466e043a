import { agents } from './agents/index.ts'
import { changes } from './changes/index.ts'
import { listed } from './extension.ts'
import { fields } from './fields/index.ts'
import { messages } from './messages/index.ts'
import { subscriptions } from './subscriptions/index.ts'

/** All extensions. Without its line and its folder an extension is gone. */
export const EXTENSIONS = listed([agents, changes, fields, messages, subscriptions])
