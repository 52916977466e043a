import { VERSION } from '#src/lib/version.ts'
import type { Group, Patient } from './examination.ts'
import { error, type Finding, note, ok } from './finding.ts'
import { findVersions, listExtensions } from './server-queries.ts'

/** The oldest that the service is tried with. */
const POSTGRESQL = 15
const POSTGIS = [3, 3] as const
const EXTENSIONS = ['postgis', 'postgis_raster']

export const programVersions: Group<unknown> = {
  group: 'versions',
  questions: {
    service: () => [ok(`The service is ${VERSION}, on Node ${process.versions.node}.`)],
  },
}

export const databaseVersions: Group<Patient> = {
  group: 'versions',
  questions: {
    postgresql: async ({ ask }) => {
      const { text, number } = await ask(findVersions)
      const [name] = text.split(/ on |,/)
      const sentence = `The database is ${name}.`
      if (number >= POSTGRESQL * 10_000) return [ok(sentence)]
      return [error(sentence, `The service needs PostgreSQL ${POSTGRESQL} or later.`)]
    },
    extensions: async ({ ask }) => {
      const found = await ask(listExtensions)
      const missing = EXTENSIONS.filter((name) => !found.some((extension) => extension.name === name))
      return [
        ...missing.map((name) =>
          error(`The extension ${name} is missing.`, `Have a superuser say \`create extension ${name}\`.`),
        ),
        ...found.map(extensionFinding),
      ]
    },
  },
}

function extensionFinding({
  name,
  installed,
  available,
}: Awaited<ReturnType<typeof listExtensions>>[number]): Finding {
  const sentence = `The extension ${name} is ${installed}.`
  const [major = 0, minor = 0] = installed.split('.').map(Number)
  if (major < POSTGIS[0] || (major === POSTGIS[0] && minor < POSTGIS[1])) {
    return error(sentence, `The service needs ${POSTGIS.join('.')} or later.`)
  }
  if (available === null || available === installed) return ok(sentence)
  return note(
    `The extension ${name} is ${installed}, and the server has ${available}.`,
    'Have a superuser say `select postgis_extensions_upgrade()` at a quiet time.',
  )
}
