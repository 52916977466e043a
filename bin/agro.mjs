#!/usr/bin/env node
// The operator's tool, from wherever its user stands: node bin/agro.mjs COMMAND [PARAMETER...]
import { join } from 'node:path'
import { ROOT } from './kept.mjs'
import { importTypeScript } from './typescript.mjs'

// `npm run agro` has gone to the folder of the service, and says where its user stands. Another script of npm that calls this
// says where that was started.
const { INIT_CWD, npm_lifecycle_event: script, npm_package_json: manifest } = process.env
const isOurs = script === 'agro' && manifest === join(ROOT, 'package.json')

// Files are named from there; the settings, .env and ./data are those of the service, which has them in its folder.
process.env.AGRO_STANDS_IN = isOurs && INIT_CWD ? INIT_CWD : process.cwd()
process.chdir(ROOT)
await importTypeScript(join(ROOT, 'src/cli/agro.ts'))
