#!/bin/sh
# Fills an empty database from a file that backup.sh wrote; then start a fleet on it:
#   DATABASE_URL=postgres://… infra/scripts/restore.sh akin.dump
# The role of DATABASE_URL must be the one that akin uses, because it then owns everything. It may be an ordinary one
# that owns the database: extensions are not restored but created, if the role may, or by a superuser before. With a
# database that is not empty nothing is changed.
set -eu
file=${1:?Name the file to read.}
: "${DATABASE_URL:?DATABASE_URL must say where the database is.}"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
pg_restore --list "$file" > "$list"
for extension in $(sed -n 's/^[0-9; ]* EXTENSION - \([a-z_]*\).*/\1/p' "$list"); do
  if ! psql --dbname="$DATABASE_URL" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 \
    --command="set client_min_messages = warning; create extension if not exists $extension"; then
    echo "Nothing is restored: this role may not create the extension. As a superuser run in the database of" >&2
    echo "DATABASE_URL: create extension $extension; then repeat this. On managed servers: docs/servers.md" >&2
    exit 1
  fi
done
# Their comments belong to whoever created them.
sed -i.all -E '/^[0-9; ]+ (EXTENSION|COMMENT) - (EXTENSION )?/d' "$list"
rm -f "$list.all"
pg_restore --dbname="$DATABASE_URL" --no-owner --no-privileges --single-transaction --exit-on-error \
  --use-list="$list" "$file"
role=$(psql --dbname="$DATABASE_URL" --no-psqlrc --tuples-only --no-align --command='select current_user')
echo "The database is restored. Everything in it belongs to the role $role: akin must connect as $role."
