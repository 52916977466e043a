import { ROOT } from './root.ts'

/** Has the browser keep the pages, so that they open where there is no network. */
export function keepForOffline() {
  // Only where the address is a safe one; others go on without.
  if (!('serviceWorker' in navigator)) return
  const worker = new URL('web/service-worker.js', ROOT)
  navigator.serviceWorker.register(worker, { scope: ROOT.pathname }).catch(() => {})
}
