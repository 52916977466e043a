FROM node:24-bookworm-slim

ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app

COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund --loglevel=error && rm -rf ~/.npm /tmp/node-compile-cache

COPY bin bin
COPY schemas schemas
COPY sql sql
COPY src src

# Where the embedded database goes when there is no DATABASE_URL.
RUN mkdir data && chown node:node data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}${process.env.BASE_PATH ?? ''}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Half of V8's young generation at its largest: Node 24's own choice took 190 MB more for a few percent of speed.
CMD ["node", "--max-semi-space-size=16", "src/server.ts"]
