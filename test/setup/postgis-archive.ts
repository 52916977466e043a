/** The archive with all files of PostGIS, as it comes with the package. */
export const POSTGIS_ARCHIVE = new URL(
  '../../node_modules/@electric-sql/pglite-postgis/dist/postgis.tar.gz',
  import.meta.url,
)
