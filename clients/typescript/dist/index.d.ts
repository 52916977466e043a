/** Client of the agricultural advisory service. {@link createAdvisoryClient} is where to begin. */
export { AdvisoryClient, type ClientOptions, createAdvisoryClient } from './client.ts';
export { AdvisoryError } from './errors.ts';
export type { components, operations, paths } from './schema.ts';
export type * from './types.ts';
