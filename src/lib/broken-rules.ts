/** A rule of a schema that is broken, as Ajv says it. */
interface BrokenRule {
  /** Such as `/PORT`. */
  instancePath: string
  message: string
  params: { allowedValues?: string[] }
}

/** The rules that an error of a validation tells of, with the values that are allowed; undefined for other errors. */
export function brokenRulesOf(error: unknown): string | undefined {
  const { errors } = error as { errors?: BrokenRule[] }
  return errors?.map(sentenceOf).join('; ')
}

function sentenceOf({ instancePath, message, params: { allowedValues } }: BrokenRule): string {
  const values = allowedValues ? `: ${allowedValues.join(', ')}` : ''
  return `${instancePath.slice(1)} ${message}${values}`
}
