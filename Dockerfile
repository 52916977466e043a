# The image is Node, the C libraries that it needs, and the service: no shell, no npm, no package manager. What is not
# there needs no updates and helps no intruder.
FROM node:24.11.1-bookworm-slim AS build

WORKDIR /image/app
COPY package.json package-lock.json ./
# Nothing reads maps of packages and declarations of types here.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
  && find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

COPY LICENSE CHANGELOG.md ./
COPY bin bin
# What the page at /docs gives to programs.
COPY clients clients
# What the page at /docs shows.
COPY docs docs
COPY schemas schemas
COPY sql sql
COPY src src
COPY web web

# What is started is bundled here: then nothing needs esbuild any more, but its version, which bundles are of. tsx is for
# Node 20.
RUN node bin/compile.mjs \
  && rm -rf node_modules/tsx node_modules/esbuild/bin node_modules/esbuild/lib node_modules/@esbuild node_modules/.bin \
    node_modules/.cache/compiled

# Scanners find the libraries where other images without a package manager list theirs.
RUN cd /image \
  && ldd /usr/local/bin/node | grep -o '/lib[^ ]*' | xargs cp --parents --dereference --target-directory=. \
  && cp --parents /usr/local/bin/node /etc/os-release /etc/passwd /etc/group /etc/nsswitch.conf . \
  && for package in libc6 libgcc-s1 libstdc++6; do \
    mkdir -p var/lib/dpkg/status.d "usr/share/doc/$package" \
    && dpkg-query --status "$package" >"var/lib/dpkg/status.d/$package" \
    && cp --dereference "/usr/share/doc/$package/copyright" "usr/share/doc/$package/"; \
  done \
  && printf '#!/usr/local/bin/node\nimport("/app/bin/agro.mjs")\n' >usr/local/bin/agro \
  && chmod 755 usr/local/bin/agro \
  && install --directory --mode 1777 tmp

FROM scratch

LABEL org.opencontainers.image.title="agro-advisory" \
  org.opencontainers.image.description="Location-specific agricultural advisories over HTTP" \
  org.opencontainers.image.version="1.2.0" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.base.name="scratch"

ENV PATH=/usr/local/bin NODE_ENV=production HOST=0.0.0.0 PORT=3000
COPY --from=build /image /
WORKDIR /app
# Where the embedded database goes when there is no DATABASE_URL.
COPY --from=build --chown=1000:1000 /image/tmp data

# By its number, so that who runs it can see that it is not root. It may write to data and /tmp alone.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=12s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}${process.env.BASE_PATH ?? ''}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As npm start: Node 24 left to itself takes 190 MB more for its young objects, and V8 lets dead ones pile up.
# `docker run IMAGE agro releases list` runs the operator's tool.
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=100", "bin/run.mjs", "src/server.ts"]
