import { startPage } from '../parts/start.ts'
import { TEXTS } from '../texts/en.ts'
import { open } from './page.ts'

startPage('districts', TEXTS.districts.title, open)
