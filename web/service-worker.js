// The service puts `const SHELL = {version, pages, files, answers}` in front of this text.
// @ts-nocheck: the types of workers and of pages exclude each other.

const CACHE = `agro-${SHELL.version}`

self.addEventListener('install', (event) => {
  const page = { headers: { accept: 'text/html' } }
  const all = [...SHELL.files, ...SHELL.pages.map((path) => new Request(path, page))]
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(all))
      .then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', (event) => {
  const isOld = (name) => name.startsWith('agro-') && name !== CACHE
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  )
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { pathname, origin } = new URL(request.url)
  if (request.method !== 'GET' || origin !== self.location.origin) return
  if (request.mode === 'navigate' && SHELL.pages.includes(pathname)) {
    event.respondWith(fetch(request).catch(() => caches.match(pathname, { ignoreVary: true })))
    return
  }
  if (pathname.includes(`/web/${SHELL.version}/`)) event.respondWith(keptOrFetched(request))
  if (SHELL.answers.includes(pathname)) event.respondWith(fetchedOrKept(request))
})

/** Files of a version never change. */
async function keptOrFetched(request) {
  const kept = await caches.match(request, { ignoreVary: true })
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok) (await caches.open(CACHE)).put(request, answer.clone())
  return answer
}

/** What is published is asked for each time, and is the last that was known where there is no network. */
async function fetchedOrKept(request) {
  try {
    const answer = await fetch(request)
    if (answer.ok) (await caches.open(CACHE)).put(request, answer.clone())
    return answer
  } catch (error) {
    const kept = await caches.match(request, { ignoreVary: true })
    if (kept) return kept
    throw error
  }
}
