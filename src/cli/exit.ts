/** What the exit codes of commands say; those of `agro doctor` are its own. */
export const EXIT = {
  done: 0,
  /** Something is the operator's to mend, which a sentence has said. */
  refused: 1,
  /** The command was called wrongly. */
  usage: 2,
  /** A mistake of ours (EX_SOFTWARE of sysexits.h). */
  unexpected: 70,
  /** Ended by Ctrl-C, as shells say it. */
  interrupted: 130,
} as const

/** Ends a command with an exit code, once it has said all that there is to say. */
export class ExitWith extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}
