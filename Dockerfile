# A small image of the bot, without root. Its database is in the volume /data; secrets come at run
# time, as variables or as files (DISCORD_TOKEN_FILE), never into a layer.

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends pkg-config libssl-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# The caches keep crates and objects between builds; the binary has to leave them to stay.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package precedent --bin precedent \
    && install -D target/release/precedent /out/precedent

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libssl3 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 precedent \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin precedent \
    && install --directory --owner precedent --group precedent --mode 0700 /data
COPY --from=build /out/precedent /usr/local/bin/precedent
ENV DATABASE_URL=sqlite:///data/precedent.db
WORKDIR /data
VOLUME /data
USER 10001:10001
# It finishes what it can, and what it can't goes on at the next start.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/precedent"]
