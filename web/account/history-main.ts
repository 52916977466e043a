import { startPage } from '../parts/start.ts'
import { TEXTS } from '../texts/en.ts'
import { open } from './history.ts'

startPage('account', TEXTS.history.title, open)
