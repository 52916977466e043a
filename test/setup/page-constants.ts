import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'

const WEB = 'web'
const MODULES = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.[jt]s$/.test(name),
)

/** The value of a constant of a module of the pages. Modules of pages import nothing of the service. */
export function constantOf(module: string, name: string): unknown {
  const file = MODULES.find((one) => one.replace(/\.[jt]s$/, '') === module) as string
  const declared = new RegExp(
    `^(?:export )?const ${name}(?:: [^=]+)? = (.*?)(?: as const)?$(?=\n[^\\s}]|\n\n)`,
    'ms',
  )
  const [, text] = declared.exec(readFileSync(join(WEB, file), 'utf8')) ?? []
  return runInNewContext(`(${text})`)
}
