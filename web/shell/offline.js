/** Has the browser keep the pages, so that they open where there is no network. */
export function keepForOffline() {
  // Only where the address is a safe one; others go on without.
  if (!('serviceWorker' in navigator)) return
  const worker = new URL('web/service-worker.js', document.baseURI)
  const scope = new URL('./', document.baseURI).pathname
  navigator.serviceWorker.register(worker, { scope }).catch(() => {})
}
