// Preloaded into a service on the embedded database: SIGUSR2 ends the thread that the database runs in.
let newest
process.on('worker', (worker) => {
  newest = worker
})
process.on('SIGUSR2', () => void newest?.terminate())
