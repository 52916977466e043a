/** For what `vi.waitFor` expects to happen at once: on a busy machine only what hangs takes as long. */
export const PATIENCE = { timeout: 120_000 }
