/**
 * What a page is given.
 *
 * @typedef {object} Page
 * @property {import('../account/session.ts').Session} session
 * @property {URLSearchParams} view what the address says is shown
 * @property {(view: Record<string, string | null>) => void} remember puts it there, which makes the page anew
 * @property {(view: Record<string, string | null>) => void} note puts it there, and the page stays as it is
 * @property {AbortSignal} left aborts when another page takes its place
 */

export {}
