/** The address of the service: files of pages lie three folders below it. */
export const ROOT = new URL('../../../', import.meta.url)
