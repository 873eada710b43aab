#!/usr/bin/env bash
# Builds and runs examples/check/go against the built libraries: go_example.sh ROOT FOLDER LIBRARY..
# 77: there is no Go, so it is skipped.
set -euo pipefail

root=$1
folder=$2
shift 2
if ! command -v go >/dev/null && [[ -x /usr/local/go/bin/go ]]; then
  PATH=$PATH:/usr/local/go/bin
fi
if ! command -v go >/dev/null; then
  echo "SKIPPED: there is no Go on PATH, so the example of the C interface in Go is not built"
  exit 77
fi
export CGO_ENABLED=1 CGO_CFLAGS="-I$root" GOFLAGS=-mod=mod GOTOOLCHAIN=local
export CGO_LDFLAGS="-Wl,--start-group $* -Wl,--end-group -lstdc++ -lm -lpthread"
(cd "$root/examples/check/go" && go build -o "$folder/check_go_example" .)
said=$("$folder/check_go_example")
echo "$said"
[[ $said == 'single_worker: violated: b was at work under lock "job" while a did, at '* ]]
