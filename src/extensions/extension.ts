import type { Command } from 'commander'
import type { TSchema } from 'typebox'
import type { ReleaseLink } from '#schemas/catalog.ts'
import type { ServiceLink } from '#schemas/service.ts'
import { ACCOUNT_DATA, ACCOUNT_LIMITS, type AccountData } from '#src/accounts/account-data.ts'
import type { Passwords } from '#src/accounts/credentials.ts'
import type { LoginStep } from '#src/accounts/steps.ts'
import type { Additions } from '#src/advice/additions.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import type { PlaceSource } from '#src/advice/polygons/sources.ts'
import type { ReadRules } from '#src/advice/quantities/rules.ts'
import type { RegionStatistics } from '#src/advice/region-statistics.ts'
import type { AdviceSchemas } from '#src/advice/schemas.ts'
import type { ReleaseMember } from '#src/catalog/published-queries.ts'
import { OF_RELEASES } from '#src/catalog/removal-queries.ts'
import type { CheckedDatabase, Checks } from '#src/cli/findings.ts'
import { addSettings, type SettingsOwner } from '#src/config.ts'
import { AUDIT_KINDS } from '#src/data/audit-kinds.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { FOLDERS } from '#src/data/schema-state.ts'
import type { Db, Tables } from '#src/data/tables.ts'
import type { TileStoreKind } from '#src/data/tiles/store.ts'
import { TILE_STORES } from '#src/data/tiles/stores.ts'
import { addErrors, type ErrorRows } from '#src/errors.ts'
import type { RecordAdvisory } from '#src/history/keep-answer.ts'
import type { App } from '#src/http/app.ts'
import type { Piece, Schedule } from '#src/http/jobs.ts'
import { METRICS, type MetricDefinition } from '#src/http/metrics/metrics.ts'
import type { DocumentPart } from '#src/http/openapi/document.ts'
import { PATTERNS } from '#src/http/parameters.ts'
import type { ExtensionTag } from '#src/http/plugins/openapi.ts'
import type { WebPage } from '#src/http/plugins/web-pages.ts'
import { FOLDER_READERS, LOAD_OBSERVERS, type LoadObserver } from '#src/ingest/observers.ts'
import { RASTER_READERS, type RasterReader } from '#src/ingest/readers.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Maps } from '#src/maps/maps.ts'

/** What the core has for extensions. */
export interface Core {
  schemas: AdviceSchemas
  lookup: Lookup
  advisors: Advisors
  record: RecordAdvisory
  readRules: ReadRules
  passwords: Passwords
  figures: RegionStatistics
  maps: Maps
  /** Of all extensions. */
  releaseLinks: readonly ReleaseLink[]
}

/**
 * All that the core knows of an extension: a folder that can be switched off (`EXTENSIONS=-name`), or deleted with its line
 * in the list. Its module is loaded with each process, and loads others when they are needed.
 */
export interface Extension extends SettingsOwner {
  /** Rows of open lists, whose types it declares beside them. Jobs are added where they are done: `app.jobs.add`. */
  errors?: ErrorRows
  /** By the codes of their errors. */
  accountLimits?: ErrorRows & typeof ACCOUNT_LIMITS
  auditKinds?: Record<string, string>
  metrics?: Record<string, MetricDefinition>
  /** Rules of patterns, for sentences of errors. */
  patterns?: Record<string, string>
  /** The document of one purpose that has its operations, and its tag. */
  part?: DocumentPart
  tag?: ExtensionTag
  /** What the document says of its share in advice, as a paragraph. */
  rule?: string
  /** Of `docs/guide/NAME.md`: its path below those of the documentation, and the path that it stands before. */
  guide?: { path: string; title: string; before: string }
  /** Pages without the limits of operations, with the guides of all extensions that are on. */
  documentation?: { path: string; show(app: App, on: readonly Extension[]): Promise<void> }
  /** Its own pages; `web/extensions/NAME` has its share of others, too. */
  pages?: readonly WebPage[]
  /** Headers that scripts of other origins may send, beside those of the core. */
  requestHeaders?: readonly string[]
  /** What `GET /` links to, by name. */
  links?: Record<string, ServiceLink>
  /** What it adds to requests for advice, and to answers. */
  additions?(app: App): Promise<Partial<Additions>>
  /** Asked for also where the extension is off: accounts may have it on. */
  loginStep?(app: App): Promise<LoginStep>
  /** What each release links to, in its own document and in those of other extensions. */
  releaseLinks?: ReleaseLink[]
  /** What `GET /releases/{code}` has more. */
  releaseMembers?(app: App): Promise<ReleaseMember[]>
  /** What `GET /health/ready` has more. */
  readiness?: { schema: Record<string, TSchema>; read(app: App): object }
  /** Where tiles of releases may be, by name. */
  tileStores?: Record<TileStoreName, TileStoreKind>
  /** Decorates the service, before its stores of tiles are opened. */
  decorate?(app: App): Promise<void>
  routes?(app: App, core: Core): Promise<void>
  /** Its folders `migrations`, numbered with those of `sql/migrations`, and `functions`. */
  sql?: URL
  /** Tables that say something of releases, by `release_id`. */
  ofReleases?: readonly (keyof Tables)[]
  /** Follows the loads of releases. */
  observeLoads?(): Promise<LoadObserver>
  /** Reads rasters that the core does not. */
  rasters?(): Promise<RasterReader>
  /** Manifests for `agro ingest` of a folder of rasters. */
  readFolder?: (typeof FOLDER_READERS)[number]['load']
  /** Polygons that requests name. */
  places?(): Promise<PlaceSource>
  /** Jobs, by name, that delete what has had its time: also where the extension is off. */
  deletions?: Record<string, Schedule & { piece(db: Db): ReturnType<Piece> }>
  /** What it has of accounts. */
  accounts?: AccountData
  /** Of `agro`, by name: `users reset-2fa` is one of the group `users`. They get the extensions that are on. */
  commands?: Record<string, (on: readonly Extension[]) => Promise<Command>>
  /** Of a database with a schema, for `agro doctor`. */
  checks?(): Promise<Checks<CheckedDatabase>>
}

/** Of extensions that are on or off. */
export function addDeletions(app: App, extensions: readonly Extension[]): void {
  for (const { deletions = {} } of extensions) {
    for (const [name, { piece, ...schedule }] of Object.entries(deletions))
      app.jobs.add(name, schedule, () => piece(app.database.writer))
  }
}

/** Opens the lists of the core for the rows of extensions: once in a process, before settings are read. */
export function listed(extensions: readonly Extension[]): readonly Extension[] {
  for (const extension of extensions) {
    addSettings(extension)
    extension.errors = { ...extension.errors, ...extension.accountLimits }
    addErrors(extension.errors)
    if (extension.sql) FOLDERS.push({ extension: extension.name, url: extension.sql })
    OF_RELEASES.push(...(extension.ofReleases ?? []))
    if (extension.observeLoads) LOAD_OBSERVERS.push(extension.observeLoads)
    if (extension.rasters) RASTER_READERS.push({ extension: extension.name, load: extension.rasters })
    const { name, readFolder } = extension
    if (readFolder) FOLDER_READERS.push({ extension: name, load: readFolder })
    if (extension.accounts) ACCOUNT_DATA.push(extension.accounts)
    Object.assign(ACCOUNT_LIMITS, extension.accountLimits)
    for (const [name, store] of Object.entries(extension.tileStores ?? {})) {
      TILE_STORES[name] = { ...store, extension: extension.name }
    }
    Object.assign(AUDIT_KINDS, extension.auditKinds)
    Object.assign(METRICS, extension.metrics)
    Object.assign(PATTERNS, extension.patterns)
  }
  return extensions
}
