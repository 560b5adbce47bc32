#!/bin/sh
# Fills an empty database from a file that backup.sh wrote; then start a fleet on it:
#   DATABASE_URL=postgres://… infra/scripts/restore.sh akin.dump
# The server must offer pgvector. With a database that is not empty nothing is changed.
set -eu
file=${1:?Name the file to read.}
: "${DATABASE_URL:?DATABASE_URL must say where the database is.}"
pg_restore --dbname="$DATABASE_URL" --no-owner --no-privileges --single-transaction --exit-on-error "$file"
echo "The database is restored."
