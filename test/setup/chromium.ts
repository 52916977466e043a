import { existsSync } from 'node:fs'

/** Where Chromium is; undefined where there is none. Nothing is ever downloaded. Without windows it computes a quarter less. */
export const CHROMIUM = [
  process.env.CHROME_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path && existsSync(path))
