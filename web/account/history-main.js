import { startPage } from '../parts/start.js'
import { TEXTS } from '../texts/en.js'
import { open } from './history.js'

startPage('account', TEXTS.history.title, open)
