import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** What a lockfile says of a package. */
interface Locked {
  version: string
  dev?: boolean
}

test('the list of what the service consists of has every package that is installed with it, and no other', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>
  }
  const locked = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)

  const document = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], { encoding: 'utf8' }))
  const listed: string[] = document.components.map((part: { 'bom-ref': string }) => part['bom-ref'])
  expect(new Set(listed)).toEqual(new Set(locked))
  expect(document.metadata.component.name).toBe('agro-advisory')
})
