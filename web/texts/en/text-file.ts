/** Files of text that are dropped on pages. */
export const textFile = {
  notUtf8: (line: number) => `The file is not UTF-8, from line ${line} on.`,
  packed:
    'The file is packed, as KMZ, Excel files, shapefiles and archives are. Unpack it, or save it as text: KML, GeoJSON or CSV.',
  utf32: 'The file is UTF-32, which is not read. Save it as UTF-8.',
  damaged: (label: string) => `The file is ${label.toUpperCase()}, and is damaged. Save it as UTF-8.`,
  noText: 'The file has NUL characters: it is no text.',
  lost: (line: number) => `Line ${line} has the sign \ufffd: another program lost a letter there.`,
  ask: (line: number) => `Which one is line ${line} as it should be?`,
  reading: (text: string, label: string) => `${text} (${label})`,
  saveAgain: 'Save it as UTF-8.',
}
