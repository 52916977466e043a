import type { Extension } from '../extension.ts'

/** `agro doctor`: looks at settings, database and releases, also with the checks of other extensions. */
export const doctor: Extension = {
  name: 'doctor',
  commands: { doctor: async (on) => (await import('./command.ts')).createDoctorCommand(on) },
}
