// Lets the running Node import TypeScript: nothing to do where it strips types itself
// (22.18 and later), tsx's loader where it does not (20). Each worker thread needs it anew.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api')
  register()
}
