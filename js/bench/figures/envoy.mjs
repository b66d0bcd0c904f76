// Envoy, with a listener for each way to decide. It answers by itself, so that no server is measured.

const TYPE = "type.googleapis.com/envoy";
const named = (name, type, config) => ({ name, typed_config: { "@type": `${TYPE}.${type}`, ...config } });

const ANSWER = '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"done"}]}}';

/** What the service's page says of the filter. */
const processing = (cluster) =>
  named("ext_proc", "extensions.filters.http.ext_proc.v3.ExternalProcessor", {
    grpc_service: {
      envoy_grpc: { cluster_name: cluster },
      initial_metadata: [{ key: "callgate-server", value: "everything" }],
    },
    failure_mode_allow: false,
    allow_mode_override: false,
    message_timeout: "30s",
    processing_mode: {
      request_header_mode: "SEND",
      request_body_mode: "BUFFERED",
      response_header_mode: "SEND",
      response_body_mode: "FULL_DUPLEX_STREAMED",
      response_trailer_mode: "SEND",
    },
  });

const authorizing = (cluster) =>
  named("ext_authz", "extensions.filters.http.ext_authz.v3.ExtAuthz", {
    transport_api_version: "V3",
    failure_mode_allow: false,
    with_request_body: { max_request_bytes: 20971520, allow_partial_message: false, pack_as_bytes: true },
    grpc_service: {
      envoy_grpc: { cluster_name: cluster },
      timeout: "30s",
      initial_metadata: [{ key: "callgate-server", value: "everything" }],
    },
  });

/** Envoy reads the message by itself, and its rules look at the method and at the name of the tool: arguments are out of their reach. */
const own = () => {
  const is = (path, exact) => ({
    metadata: {
      filter: "envoy.filters.http.mcp",
      path: path.map((key) => ({ key })),
      value: { string_match: { exact } },
    },
  });
  const permissions = [{ and_rules: { rules: [is(["method"], "tools/call"), is(["params", "name"], "echo")] } }];
  return [
    named("mcp", "extensions.filters.http.mcp.v3.Mcp", { traffic_mode: "REJECT_NO_MCP" }),
    named("rbac", "extensions.filters.http.rbac.v3.RBAC", {
      rules: { action: "ALLOW", policies: { echo: { permissions, principals: [{ any: true }] } } },
    }),
  ];
};

/** The ways to decide, by the names of their listeners. */
const FILTERS = {
  none: [],
  rbac: own(),
  passing: [processing("passing")],
  ext_authz: [authorizing("callgate")],
  ext_proc: [processing("callgate")],
};

export const WAYS = Object.keys(FILTERS);

function listener(name, filters) {
  const manager = named("manager", "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: name,
    stream_idle_timeout: "0s",
    http2_protocol_options: { max_concurrent_streams: 1024 },
    route_config: {
      virtual_hosts: [
        {
          name,
          domains: ["*"],
          routes: [
            {
              match: { path: "/mcp" },
              direct_response: { status: 200, body: { inline_string: ANSWER } },
              response_headers_to_add: [{ header: { key: "content-type", value: "application/json" } }],
            },
          ],
        },
      ],
    },
    http_filters: [...filters, named("router", "extensions.filters.http.router.v3.Router", {})],
  });
  return {
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    per_connection_buffer_limit_bytes: 22020096,
    filter_chains: [{ filters: [manager] }],
  };
}

/** By itself Envoy has at most 1,024 requests wait for a service, and fails those beyond: a queue is measured here, not cut off. */
const MOST = 1_000_000;

const cluster = (name, path) => ({
  name,
  type: "STATIC",
  connect_timeout: "10s",
  circuit_breakers: {
    thresholds: [{ max_connections: MOST, max_pending_requests: MOST, max_requests: MOST }],
  },
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": `${TYPE}.extensions.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
  load_assignment: {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path } } } }] }],
  },
});

/** The configuration, with the sockets of the service and of the processor that lets everything pass. */
export const configuration = (callgate, passing) => ({
  admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
  static_resources: {
    listeners: Object.entries(FILTERS).map(([name, filters]) => listener(name, filters)),
    clusters: [cluster("callgate", callgate), cluster("passing", passing)],
  },
});
