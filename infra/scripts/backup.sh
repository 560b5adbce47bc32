#!/bin/sh
# Writes everything that a fleet has accepted into one file, while it serves:
#   DATABASE_URL=postgres://… infra/scripts/backup.sh akin.dump
# pg_dump must not be older than the server. The file appears under its name only when it is whole.
set -eu
# It holds hashes of keys, and everything else.
umask 077
file=${1:?Name the file to write.}
: "${DATABASE_URL:?DATABASE_URL must say where the database is.}"
# Jobs, times of searches and leases are left out: a restored fleet creates them again.
rm -f "$file.partial"
pg_dump --dbname="$DATABASE_URL" --format=custom --no-owner --no-privileges \
  --exclude-schema=bullmq --exclude-table-data=akin.search_times --exclude-table-data=akin.leases \
  --file="$file.partial"
mv "$file.partial" "$file"
echo "$file holds everything that was accepted."
