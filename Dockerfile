# Two images of the same files. The last one, which `docker build .` makes, is akin in one container:
#   docker run -p 127.0.0.1:8983:8983 -v akin:/data akin
# `--target fleet` serves nothing by itself: the command chooses, such as `gateway`, `indexer`, `analyzer`.
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
 && pnpm --filter akin-search --config.inject-workspace-packages=true deploy --prod --offline /akin \
 && pnpm --filter @akin/traces --config.inject-workspace-packages=true deploy --dev --offline /traces
# What no process reads goes: our own sources and tests, declarations of types, maps of other packages, and of
# TensorFlow.js every build but Node's. Our own maps stay, so that stack traces name lines of the sources.
RUN cd /akin \
 && for folder in . node_modules/.pnpm/@akin+*/node_modules/@akin/*; do \
      [ -L "$folder" ] || (cd "$folder" && rm -rf .turbo pnpm-lock.yaml src test tsconfig.json vite.config.ts); \
    done \
 && find . /traces -type f -name '*.d.[cm]ts' -delete -o -type f -name '*.d.ts' -delete \
 && find node_modules /traces -type f -name '*.map' ! -path '*/@akin/*' -delete \
 && find node_modules -type f -path '*/@tensorflow/*/dist/*' ! -name '*.node.js' ! -name '*.wasm' -delete

FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS fleet
LABEL org.opencontainers.image.title=akin org.opencontainers.image.licenses=Apache-2.0
ENTRYPOINT ["node", "--enable-source-maps", "/akin/bin/akin.mjs"]
ENV NODE_ENV=production
COPY --from=build --chown=root:root /akin /akin
COPY LICENSE NOTICE /akin/
# What sends traces. Elsewhere it is optional; Node finds it here from any folder.
COPY --from=build --chown=root:root /traces/node_modules /node_modules
# As in the npm package: infra/scripts/pack.mjs.
COPY infra/scripts/backup.sh infra/scripts/restore.sh /akin/operations/
COPY infra/grafana /akin/operations/grafana
COPY infra/prometheus /akin/operations/prometheus
# Nothing in the image can be changed by the process; /tmp is all it writes to.
USER node
WORKDIR /tmp
EXPOSE 8983 8984 8985
CMD ["--help"]

FROM fleet
USER root
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
# Other containers and machines may connect, so everybody is asked for a key; the first start makes one and logs it.
ENV AKIN_HOST=0.0.0.0 AKIN_DATA=/data AKIN_FIRST_KEY=true
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=12 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${AKIN_PORT:-8983} && printf 'GET /health/ready HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
CMD ["serve"]
