// A worker without a service: it answers each connection with its number. One with the number `settings.late` listens only
// after it has been told to drain as well.
import { once } from 'node:events'
import { createServer } from 'node:net'
import process from 'node:process'

process.send('settings')
const [settings] = await once(process, 'message')
const number = Number(process.env.WORKER)
const listen = () => createServer((socket) => socket.end(`worker ${number}`)).listen(0, '127.0.0.1')
const metric = (name, type, value) => ({
  name,
  help: 'x',
  type,
  aggregator: 'sum',
  values: [{ value, labels: {} }],
})
process.on('message', (message) => {
  if (message === 'ping') process.send('pong')
  else if (message === 'scrape')
    process.send([metric('answers_total', 'counter', 10 ** number), metric('tiles', 'gauge', 1)])
  else if (message === 'drain') listen()
  else if (message === 'end') process.exit()
})
if (number !== settings.late) listen()
