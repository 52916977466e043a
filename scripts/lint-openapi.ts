/**
 * Holds openapi.yaml to the rules of Spectral, OWASP and IBM, and its schemas and examples to a strict validator.
 * Redocly's rules are checked by its own command.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import parsers from '@stoplight/spectral-parsers'
import rulesets from '@stoplight/spectral-rulesets'
import { parse } from 'yaml'
import { bodiesOf, operationsOf, validatorOf } from '#test/setup/document.ts'

const FILE = new URL('../openapi.yaml', import.meta.url)
const text = await readFile(FILE, 'utf8')

/** Rules that the document breaks, each with the reason. */
const OFF = {
  // Registration, logins and public advice are for callers without a token.
  'owasp:api2:2023-write-restricted': 'off',
  // Requests have limits of texts, lists, numbers and bytes. The rules ask for limits of answers too.
  'owasp:api4:2023-array-limit': 'off',
  'owasp:api4:2023-integer-limit': 'off',
  'owasp:api4:2023-string-limit': 'off',
  // Generators would make numbers of 32 bits of them.
  'owasp:api4:2023-integer-format': 'off',
  'ibm-integer-attributes': 'off',
  // A limit is the operator's choice, and answers name it from there on.
  'owasp:api4:2023-rate-limit': 'off',
  // The response has the header as a reference, which the rule does not follow.
  'owasp:api4:2023-rate-limit-retry-after': 'off',
  // `/admin` has administrative areas, for all callers.
  'owasp:api5:2023-admin-security-unique': 'off',
  // The header is in all answers, and of no use to clients that are no pages.
  'owasp:api8:2023-define-cors-origin': 'off',
  // The server is the one that gives the document.
  'owasp:api9:2023-inventory-access': 'off',
  // Codes of errors have capitals, as have names of scenarios and of GeoJSON.
  'ibm-enum-casing-convention': 'off',
  // Paths of tiles are those of all maps: `{z}/{x}/{y}`, `tiles.json`, `{layer}.tif`.
  'ibm-no-consecutive-path-parameter-segments': 'off',
  'ibm-path-segment-casing-convention': 'off',
  'ibm-valid-path-segments': 'off',
  // Nutrients have the names of chemistry, and members for DHIS2 and STAC have theirs.
  'ibm-property-casing-convention': 'off',
  // OpenAPI 3.1 has `null` as a type, `const`, and booleans with one value.
  'ibm-property-attributes': 'off',
  'ibm-schema-keywords': 'off',
  'ibm-schema-type-format': 'off',
  // Members that say nothing are left out of answers.
  'ibm-required-array-properties-in-response': 'off',
  'ibm-required-enum-properties-in-response': 'off',
  // Body and query have the same fields, and the body wins.
  'ibm-unique-parameter-request-property-names': 'off',
} as const

/** The package has no types. */
const ibm = createRequire(import.meta.url)('@ibm-cloud/openapi-ruleset') as object

const linter = new spectral.Spectral()
linter.setRuleset({
  extends: [rulesets.oas as RulesetDefinition, onlyErrors(owasp), onlyErrors(ibm)],
  rules: OFF,
})
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

/** Warnings of other houses are matters of taste. */
function onlyErrors(ruleset: object): RulesetDefinition {
  const { rules, ...rest } = ruleset as { rules: Record<string, { severity?: string | number }> }
  const errors = Object.entries(rules).filter(([, { severity }]) => severity === 'error' || severity === 0)
  return { ...rest, rules: Object.fromEntries(errors) } as RulesetDefinition
}

function complain(where: string, schema: object, example: unknown): void {
  try {
    complaints.push(...validator.mistakes(schema, example).map((mistake) => `${where}: ${mistake}`))
  } catch (error) {
    complaints.push(`${where}: ${(error as Error).message}`)
  }
}
