import { startPage } from '../parts/start.js'
import { TEXTS } from '../texts/en.js'
import { open } from './page.js'

startPage('districts', TEXTS.districts.title, open)
