// The service puts `const SHELL = {base, version, pages, files, answers}` in front of this text.
// @ts-nocheck: the types of workers and of pages exclude each other.

// Services below other paths of this host have caches of their own beside it.
const OWN = `agro ${SHELL.base}/ `
const CACHE = OWN + SHELL.version
const FILES = `${SHELL.base}/web/${SHELL.version}/`

self.addEventListener('install', (event) => {
  event.waitUntil(
    Promise.all([...SHELL.files.map(keepFile), ...SHELL.pages.map(keepPage)]).then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', (event) => {
  const isOld = (name) => name.startsWith(OWN) && name !== CACHE
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
    event.respondWith(fetch(request).catch((error) => keptOr(pathname, error)))
    return
  }
  if (pathname.startsWith(FILES)) event.respondWith(keptOrFetched(request))
  if (SHELL.answers.includes(pathname)) event.respondWith(fetchedOrKept(request))
})

/** @param {string} path of a file of this version */
async function keepFile(path) {
  const answer = await fetch(path)
  if (!isOfThisVersion(answer)) throw new Error(`${path} is of another version.`)
  await keep(path, answer)
}

/** @param {string} path of a page, which says of which version its files are */
async function keepPage(path) {
  const request = new Request(path, { headers: { accept: 'text/html' } })
  const answer = await fetch(request)
  const text = answer.ok ? await answer.clone().text() : ''
  if (!text.includes(`web/${SHELL.version}/`)) throw new Error(`${path} is of another version.`)
  await keep(request, answer)
}

/** While versions change places, one answers to the addresses of the other, and says that it is not to be kept. */
function isOfThisVersion(answer) {
  return answer.ok && !/no-cache|no-store/.test(answer.headers.get('cache-control') ?? '')
}

/** Files of a version never change. */
async function keptOrFetched(request) {
  const before = await kept(request)
  if (before) return before
  const answer = await fetch(request)
  if (isOfThisVersion(answer)) void keep(request, answer.clone())
  return answer
}

/** What is published is asked for each time, and is the last that was known where there is no network. */
async function fetchedOrKept(request) {
  const answer = await fetch(request).catch((error) => keptOr(request, error))
  if (answer.ok) void keep(request, answer.clone())
  return answer
}

async function keptOr(request, error) {
  const before = await kept(request)
  if (before) return before
  throw error
}

async function kept(request) {
  return (await caches.open(CACHE)).match(request, { ignoreVary: true })
}

async function keep(request, answer) {
  await (await caches.open(CACHE)).put(request, answer)
}
