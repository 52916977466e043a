const CORE_KINDS = {
  login: 'a session was begun',
  login_failed: 'a login failed',
  logout: 'a session was ended',
  session_ended: 'a session was ended from another, or by its id',
  other_sessions_ended: 'all other sessions were ended',
  reauthenticated: 'a password was given again',
  refresh_token_reused: 'a refresh token was used twice: its session was ended',
  registration_kept: 'an e-mail was registered, and has to be confirmed',
  account_made: 'an account was made',
  account_deleted: 'an account was deleted',
  account_restored: 'a deleted account was restored from a backup',
  email_confirmed: 'an e-mail was confirmed',
  password_changed: 'a password was changed',
  password_refused: 'the current password was wrong',
  password_reset: 'a password was reset',
  password_reset_issued: 'an operator made a token for a new password',
  role_changed: 'a role was changed',
  key_made: 'a key was made',
  key_deleted: 'a key was deleted',
  keys_ended: 'all keys of an account ended with its password',
  release_published: 'a release was published',
  release_withdrawn: 'a release was withdrawn',
  release_scheduled: 'a release was scheduled to be published',
  release_unscheduled: 'a release is not to be published at its time any more',
  release_refused: 'a scheduled release was refused when it was to be published',
  release_deleted: 'a release was deleted',
  release_moved: 'the tiles of a release were moved into files, or back',
  boundaries_loaded: 'boundaries were loaded',
  reference_changed: 'countries, crops or plausible ranges were changed',
} as const

type CoreKinds = typeof CORE_KINDS
/** An extension declares its own: `interface AuditKinds extends ...`. */
export interface AuditKinds extends CoreKinds {}

export type AuditKind = keyof AuditKinds

/** The kinds of audit records, and their lines in the log. The list of extensions adds theirs. */
export const AUDIT_KINDS = CORE_KINDS as Record<AuditKind, string>
