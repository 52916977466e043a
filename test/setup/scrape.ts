/** The numbers of a scrape, by name and labels in their order: `name{a="b"}`. */
export interface Scrape {
  text: string
  samples: ReadonlyMap<string, number>
  /** The names that the scrape says the types of. */
  types: ReadonlyMap<string, string>
}

/** Asks a service for its metrics as Prometheus does. */
export async function scrape(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
  return {
    text,
    samples: new Map(
      matches(text, /^(\w+(?:\{.*\})?) (\S+)$/gm).map(([name, value]) => [name, Number(value)]),
    ),
    types: new Map(matches(text, /^# TYPE (\w+) (\w+)$/gm)),
  }
}

function matches(text: string, pattern: RegExp): [string, string][] {
  return [...text.matchAll(pattern)].map(([, first, second]) => [first as string, second as string])
}
