import { startPage } from '../parts/start.ts'
import { TEXTS } from '../texts/en.ts'
import { open } from './page.ts'

startPage('field', TEXTS.field.title, open)
