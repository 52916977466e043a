declare global {
  interface ImportMeta {
    /** The bundler puts modules in its place: what each exports by a name, by the paths of those that there are. */
    glob<Part>(paths: string, options: { eager: true; import: string }): Record<string, Part>
  }
}

/** Of the parts that extensions have in a page, those of extensions that are on, as its head says. */
export function partsThatAreOn<Part>(parts: Record<string, Part>): Part[] {
  const on = document.querySelector<HTMLMetaElement>('meta[name=extensions]')?.content.split(' ') ?? []
  const isOn = (path: string) => on.some((name) => path.includes(`/extensions/${name}/`))
  return Object.entries(parts).flatMap(([path, part]) => (isOn(path) ? [part] : []))
}
