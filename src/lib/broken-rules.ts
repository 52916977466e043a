/** A rule of a schema that is broken, as Ajv says it. */
interface BrokenRule {
  /** Such as `/PORT`. */
  instancePath: string
  keyword: string
  message: string
  params: { allowedValues?: string[] }
}

/** Schemas of variables by their names. */
type Variables = Record<string, object>

/**
 * The rules that an error of a validation of variables tells of, with the values that are allowed, and examples in the
 * place of a pattern; undefined for other errors.
 */
export function brokenRulesOf(error: unknown, variables: Variables): string | undefined {
  const { errors } = error as { errors?: BrokenRule[] }
  return errors?.map((rule) => sentenceOf(rule, variables)).join('; ')
}

function sentenceOf(
  { instancePath, keyword, message, params: { allowedValues } }: BrokenRule,
  variables: Variables,
): string {
  const name = instancePath.slice(1)
  const { examples } = { examples: [], ...variables[name] } as { examples: string[] }
  if (keyword === 'pattern' && examples.length > 0) return `${name} must look like ${examples.join(' or ')}`
  const values = allowedValues ? `: ${allowedValues.join(', ')}` : ''
  return `${name} ${message}${values}`
}
