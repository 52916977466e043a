/** Runs before each test file. Modules are loaded once for many files, this one anew for each. */
import { afterAll } from 'vitest'
import { removeFolders } from './folders.ts'

afterAll(removeFolders)
