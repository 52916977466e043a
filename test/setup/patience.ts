/** For what `vi.waitFor` expects to happen at once, which on a busy machine may take a while. */
export const PATIENCE = { timeout: 30_000 }
