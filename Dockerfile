# One image for all processes of akin: the command chooses, such as `gateway`, `indexer`, `analyzer`.
FROM node:22-bookworm-slim AS build
WORKDIR /src
ENV TURBO_TELEMETRY_DISABLED=1 CI=1
RUN npm install --global pnpm@10.34.9
COPY . .
RUN pnpm install --frozen-lockfile \
 && pnpm exec turbo run build --filter=akin... \
 && pnpm --filter akin deploy --prod --legacy /akin

FROM node:22-bookworm-slim
ENTRYPOINT ["node", "--enable-source-maps", "/akin/bin/akin.mjs"]
ENV NODE_ENV=production
COPY --from=build --chown=root:root /akin /akin
# Nothing in the image can be changed by the process; /tmp is all it writes to.
USER node
WORKDIR /tmp
EXPOSE 8983 8984 8985
CMD ["--help"]
