// A worker without a service: it answers each connection with its number. One with the number `config.late` is ready only
// after it has been told to drain as well.
import process from 'node:process'

const told = {}
process.on('message', (message, socket) => {
  told[message.kind] = message
  const { start, drain } = told
  if (message.kind === 'ping') process.send({ kind: 'pong' })
  else if (message.kind === 'connection') socket?.end(`worker ${start.worker}`)
  else if (start && (drain || start.worker !== start.config.late)) process.send({ kind: 'ready' })
})
process.send({ kind: 'loaded' })
