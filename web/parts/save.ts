/** Has the browser save a file. */
export function save(content: BlobPart, name: string, type = 'text/csv;charset=utf-8') {
  const address = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}
