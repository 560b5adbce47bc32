# One image for all processes of akin: the command chooses, such as `gateway`, `indexer`, `analyzer`.
# The digest is that of the list of all architectures:
#   docker buildx imagetools inspect node:22-bookworm-slim
# tells the next one.
FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /src
ENV TURBO_TELEMETRY_DISABLED=1 CI=1
RUN npm install --global pnpm@10.34.9
# Fetched anew only when the lock file changes.
COPY pnpm-lock.yaml pnpm-workspace.yaml .npmrc ./
RUN pnpm fetch
COPY . .
RUN pnpm install --frozen-lockfile --offline \
 && pnpm exec turbo run build --filter=akin-search... \
 && pnpm --filter akin-search --config.inject-workspace-packages=true deploy --prod --offline /akin
# What no process reads goes: our own sources and tests, declarations of types, maps of other packages, and of
# TensorFlow.js every build but Node's. Our own maps stay, so that stack traces name lines of the sources.
RUN cd /akin \
 && for folder in . node_modules/.pnpm/@akin+*/node_modules/@akin/*; do \
      [ -L "$folder" ] || (cd "$folder" && rm -rf .turbo pnpm-lock.yaml src test tsconfig.json vite.config.ts); \
    done \
 && find . -type f -name '*.d.[cm]ts' -delete -o -type f -name '*.d.ts' -delete \
 && find node_modules -type f -name '*.map' ! -path '*/@akin/*' -delete \
 && find node_modules -type f -path '*/@tensorflow/*/dist/*' ! -name '*.node.js' ! -name '*.wasm' -delete

FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
ENTRYPOINT ["node", "--enable-source-maps", "/akin/bin/akin.mjs"]
ENV NODE_ENV=production
COPY --from=build --chown=root:root /akin /akin
# Nothing in the image can be changed by the process; /tmp is all it writes to.
USER node
WORKDIR /tmp
EXPOSE 8983 8984 8985
CMD ["--help"]
