{{- /* Envoy before the server, as `examples/envoy/envoy.yaml` has it, and a second listener for whoever asks how it is. */}}
{{- define "callgate.envoy" -}}
static_resources:
  listeners:
    - name: mcp
      address: { socket_address: { address: 0.0.0.0, port_value: {{ .Values.sidecar.envoy.port }} } }
      # The largest message, and some more.
      per_connection_buffer_limit_bytes: 22020096
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: mcp
                # Streams of events last for as long as they like.
                stream_idle_timeout: 0s
                route_config:
                  virtual_hosts:
                    - name: server
                      domains: ["*"]
                      routes:
                        - match: { path: {{ .Values.sidecar.server.path | quote }} }
                          route: { cluster: server, timeout: 0s }
                http_filters:
                  - name: callgate
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
                      grpc_service:
                        envoy_grpc: { cluster_name: callgate }
                        initial_metadata: [{ key: callgate-server, value: {{ .Values.sidecar.server.name | quote }} }]
                      # Whatever goes wrong, nothing passes.
                      failure_mode_allow: false
                      allow_mode_override: false
                      message_timeout: 5s
                      processing_mode:
                        request_header_mode: SEND
                        request_body_mode: BUFFERED
                        response_header_mode: SEND
                        response_body_mode: FULL_DUPLEX_STREAMED
                        response_trailer_mode: SEND
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
    - name: health
      address: { socket_address: { address: 0.0.0.0, port_value: {{ .Values.sidecar.envoy.healthPort }} } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: health
                route_config:
                  virtual_hosts:
                    - name: callgate
                      domains: ["*"]
                      routes:
                        - match: { path: /healthz }
                          route: { cluster: callgate }
                        - match: { path: /readyz }
                          route: { cluster: callgate }
                        - match: { path: /metrics }
                          route: { cluster: callgate }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
    - name: server
      type: STATIC
      load_assignment:
        cluster_name: server
        endpoints:
          - lb_endpoints:
              - endpoint:
                  address: { socket_address: { address: 127.0.0.1, port_value: {{ .Values.sidecar.server.port }} } }
    - name: callgate
      type: STATIC
      connect_timeout: 1s
      # As many as the service takes: by itself Envoy fails those beyond 1,024 at once.
      circuit_breakers:
        thresholds: [{ max_connections: 1024, max_pending_requests: 1048576, max_requests: 1048576 }]
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config: { http2_protocol_options: {} }
      load_assignment:
        cluster_name: callgate
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { pipe: { path: /run/callgate/callgate.sock } } }
{{- end }}
