/** Client of the agricultural advisory service. {@link createAdvisoryClient} is where to begin. */
export { AdvisoryClient, createAdvisoryClient } from './client.js';
export { AdvisoryError } from './errors.js';
