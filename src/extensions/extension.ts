import type { Command } from 'commander'
import type { ServiceLink } from '#schemas/service.ts'
import type { AdviceSchemas } from '#src/advice/index.ts'
import type { Advisors, RegionStatistics } from '#src/advice/polygon/advisors.ts'
import type { PlaceSource } from '#src/advice/polygons/place-source.ts'
import type { ReadRules } from '#src/advice/quantities/compute.ts'
import type { CheckedDatabase, Checks } from '#src/cli/doctor/finding.ts'
import { addSettings, type SettingsOwner } from '#src/config.ts'
import { type AccountData, addAccountData } from '#src/data/account-data.ts'
import { AUDIT_KINDS } from '#src/data/audit-kinds.ts'
import { addScripts } from '#src/data/schema-state.ts'
import { addErrors, type ErrorRows } from '#src/errors.ts'
import type { RecordAdvisory } from '#src/history/queries.ts'
import type { App } from '#src/http/app.ts'
import { METRICS, type MetricDefinition } from '#src/http/metrics/metrics.ts'
import type { DocumentPart } from '#src/http/openapi/document.ts'
import type { ExtensionTag } from '#src/http/plugins/openapi.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Downloads } from '#src/standards/downloads.ts'
import type { Maps } from '#src/standards/maps/maps.ts'

/** What the core has for extensions. */
export interface Core {
  schemas: AdviceSchemas
  lookup: Lookup
  advisors: Advisors
  record: RecordAdvisory
  readRules: ReadRules
  figures: RegionStatistics
  maps: Maps
  /** Null without DOWNLOAD_CACHE_MB. */
  downloads: Downloads | null
}

/**
 * All that the core knows of an extension: a folder that can be switched off (`EXTENSIONS=-name`), or deleted with its line
 * in the list. Its module is loaded with each process, and loads others when they are needed.
 */
export interface Extension extends SettingsOwner {
  /** Rows of open lists, whose types it declares beside them. Jobs are added where they are done: `app.jobs.add`. */
  errors?: ErrorRows
  auditKinds?: Record<string, string>
  metrics?: Record<string, MetricDefinition>
  /** The document of one purpose that has its operations, and its tag. */
  part?: DocumentPart
  tag?: ExtensionTag
  /** What `GET /` links to, by name. */
  links?: Record<string, ServiceLink>
  routes?(app: App, core: Core): Promise<void>
  /** Its folders `migrations`, numbered with those of `sql/migrations`, and `functions`. */
  sql?: URL
  /** Polygons that requests name. */
  places?(): Promise<PlaceSource>
  /** What it has of accounts. */
  accounts?: AccountData
  /** Of `agro`, by name. */
  commands?: Record<string, () => Promise<Command>>
  /** Of `agro doctor`. */
  checks?(): Promise<Checks<CheckedDatabase>>
}

/** Opens the lists of the core for the rows of extensions: once in a process, before settings are read. */
export function listed(extensions: readonly Extension[]): readonly Extension[] {
  for (const extension of extensions) {
    addSettings(extension)
    addErrors(extension.errors ?? {})
    if (extension.sql) addScripts(extension.name, extension.sql)
    if (extension.accounts) addAccountData(extension.accounts)
    Object.assign(AUDIT_KINDS, extension.auditKinds)
    Object.assign(METRICS, extension.metrics)
  }
  return extensions
}
