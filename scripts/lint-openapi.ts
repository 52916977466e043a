/**
 * Holds openapi.yaml to Spectral's rules for OpenAPI, of which none may be broken, and its schemas and examples
 * to a strict validator. Redocly's rules are checked by its own command.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import parsers from '@stoplight/spectral-parsers'
import rulesets from '@stoplight/spectral-rulesets'
import { parse } from 'yaml'
import { bodiesOf, operationsOf, validatorOf } from '#test/setup/document.ts'

const FILE = new URL('../openapi.yaml', import.meta.url)
const text = await readFile(FILE, 'utf8')

const linter = new spectral.Spectral()
linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] })
const broken = await linter.run(new spectral.Document(text, parsers.Yaml, fileURLToPath(FILE)))
const complaints = broken.map(({ code, path, message }) => `${path.join('.')}: ${message} (${code})`)

const document = parse(text)
const validator = validatorOf(document)
for (const [name, schema] of Object.entries<{ examples?: unknown[] }>(document.components.schemas)) {
  for (const example of schema.examples ?? []) complain(name, { $ref: name }, example)
}
for (const { path, operation } of operationsOf(document)) {
  for (const [where, { schema = {}, examples = {} }] of bodiesOf(operation)) {
    for (const { value } of Object.values(examples)) complain(`${path} ${where}`, schema, value)
  }
}

for (const complaint of complaints) console.error(`openapi.yaml: ${complaint}`)
if (complaints.length > 0) process.exitCode = 1

function complain(where: string, schema: object, example: unknown): void {
  try {
    complaints.push(...validator.mistakes(schema, example).map((mistake) => `${where}: ${mistake}`))
  } catch (error) {
    complaints.push(`${where}: ${(error as Error).message}`)
  }
}
