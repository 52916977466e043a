import { roleRights, schemaDefects, schemaState } from '#src/database/schema-state.ts'
import type { Group, Patient } from './examination.ts'
import { error, note, ok, someNames, warning } from './finding.ts'

/** Whether the schema is what this version works with, and whether its role may work with it. */
export const schema: Group<Patient> = {
  group: 'schema',
  questions: {
    migrations: async ({ ask }) => {
      const { applied, pending, newer, breaking, changed } = await ask(schemaState)
      if (applied.length === 0) {
        return [
          error(
            'The database has no schema of the service.',
            'Apply the migrations: start the service, or say `agro migrate`.',
          ),
        ]
      }
      if (breaking.length > 0) {
        return [
          error(
            `The schema is newer than this version, which cannot go on with ${someNames(breaking)}.`,
            'Upgrade the service and agro.',
          ),
        ]
      }
      if (changed.length > 0) {
        return [
          error(
            `Migrations were changed after they were applied: ${someNames(changed)}.`,
            'Put the files back as they are in the release of the service.',
          ),
        ]
      }
      if (pending.length > 0) {
        return [
          warning(
            `The schema is older than this version: ${someNames(pending.map(({ name }) => name))} ${pending.length === 1 ? 'is' : 'are'} not applied.`,
            'Apply the migrations: start the service of this version, or say `agro migrate`.',
          ),
        ]
      }
      if (newer.length > 0) {
        return [
          note(
            `The schema is newer than this version, which goes on with it: it has ${someNames(newer)}.`,
            'Upgrade what is left of this version.',
          ),
        ]
      }
      return [ok(`The schema is up to date: ${applied.at(-1)} is the last of ${applied.length} migrations.`)]
    },
    objects: async ({ ask }) => {
      const { applied } = await ask(schemaState)
      if (applied.length === 0) return []
      const { missing, disabled } = await ask(schemaDefects)
      if (missing.length + disabled.length === 0) return [ok('All tables and functions are there.')]
      return [
        ...(missing.length > 0
          ? [
              error(
                `These are missing: ${someNames(missing)}.`,
                'They were dropped by hand: restore a backup.',
              ),
            ]
          : []),
        ...disabled.map((defect) =>
          warning(
            `The ${defect}.`,
            'It was changed by hand or interrupted: undo the change, or create it again.',
          ),
        ),
      ]
    },
    rights: async ({ ask, kind }) => {
      const { role, superuser, owner, unreadable, unwritable } = await ask(roleRights)
      if (kind === 'embedded') return [ok('The embedded database has one role, which may do everything.')]
      if (unreadable.length > 0) {
        return [
          error(`The role ${role} may not read ${someNames(unreadable)}.`, 'Grant select on them to it.'),
        ]
      }
      if (unwritable.length > 0) {
        return [
          warning(
            `The role ${role} may not write to ${someNames(unwritable)}.`,
            'Grant insert on them to it.',
          ),
        ]
      }
      if (superuser) {
        return [
          warning(
            `The role ${role} is a superuser, and may do everything on the server.`,
            'Take a role of its own; docker/database.sh makes one.',
          ),
        ]
      }
      if (!owner) return [note(`The role ${role} does not own all tables: it cannot migrate the schema.`)]
      return [ok(`The role ${role} has the rights that it needs, and is no superuser.`)]
    },
  },
}
