#!/usr/bin/env bash
# Tests the dashboard: types, logic, and the journeys of a user in a real browser against the real binary.
#
#   web/test.sh             everything
#   web/test.sh --logic     types and logic only: no browser, no binary
#
#   DOCMILL_BIN             the binary to test   (default: built now, with the dashboard in it)
#   CARGO_TARGET_DIR        where to build       (default: ~/.cache/docmill-target)
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=.ci/setup.sh
. "$top/.ci/setup.sh"
# shellcheck source=.ci/web.sh
. "$top/.ci/web.sh"

need_node || die "no Node.js $node_needed or newer: the dashboard cannot be tested"
install_web_packages || die "the packages of the dashboard cannot be installed"
cd "$top/web"
if grep -q '"resolved"' package-lock.json; then
  die "package-lock.json names a registry; \`npm install\` in web/ writes it without"
fi
npm run --silent types
npm run --silent unit
[ "${1:-}" != --logic ] || exit 0

build_web || die "the dashboard does not build"
limit=350000
size=$(cat dist/assets/* dist/index.html | gzip -9 | wc -c)
[ "$size" -le "$limit" ] || die "the dashboard has $size bytes compressed, more than $limit"
say "the dashboard has $size bytes compressed"

if ! command -v chromium >/dev/null && ! install_packages chromium; then
  die "no chromium: the journeys cannot be tested; \`web/test.sh --logic\` runs the rest"
fi
if [ -z "${DOCMILL_BIN:-}" ]; then
  need_rust
  need_c_compiler
  (cd "$top" && cargo build --locked --package docmill)
  DOCMILL_BIN=$CARGO_TARGET_DIR/debug/docmill
fi
export DOCMILL_BIN
npm run --silent journeys
