import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

test.each(['haproxy.cfg', 'nginx.conf'])(
  'operators are shown the %s that restarts are tried with',
  (file) => {
    expect(textOf('docs/operations.md')).toContain(`\n${textOf(`chaos/${file}`)}\`\`\`\n`)
  },
)
