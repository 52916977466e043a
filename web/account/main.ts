import { startPage } from '../parts/start.ts'
import { TEXTS } from '../texts/en.ts'
import { open } from './page.ts'

startPage('account', TEXTS.account.title, open)
