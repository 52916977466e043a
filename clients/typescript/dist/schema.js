// Written by `npm run gen` from openapi.yaml: change the routes, not this.
export {};
