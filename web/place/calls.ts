import { addressOf, type Query } from '../shell/api.ts'
import { copyButton, element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/** The same call in the languages that people copy it in. */
export const CALLS: Record<string, (url: string) => string> = {
  curl: (url) => `curl '${url}'`,
  JavaScript: (url) => `const response = await fetch('${url}')
const advice = await response.json()
if (!response.ok) throw new Error(advice.error)
console.log(advice)`,
  Python: (url) => `import json
from urllib.request import urlopen

with urlopen('${url}') as response:
    advice = json.load(response)
print(advice)`,
  R: (url) => `library(jsonlite)

advice <- fromJSON('${url}')
str(advice)`,
}

/** The address of what all products say at a place. */
export function addressOfPlace(query: Query) {
  // No language needs another way to write a quote then.
  return addressOf('advisory/point', query).href.replaceAll("'", '%27')
}

export function calls(url: string) {
  const code = element('code')
  const languages = Object.keys(CALLS)
  const show = (language: string) => {
    code.textContent = CALLS[language]?.(url) ?? ''
  }
  show('curl')
  const options = languages.map((value) => ({ value, text: value }))
  return element(
    'details',
    { className: 'calls' },
    element('summary', {}, TEXTS.calls.title),
    labelled(TEXTS.calls.language, select(options, 'curl', show)),
    element('pre', { tabIndex: 0, 'aria-label': TEXTS.calls.title, role: 'region' }, code),
    copyButton(TEXTS.copy, () => code.textContent ?? ''),
  )
}
