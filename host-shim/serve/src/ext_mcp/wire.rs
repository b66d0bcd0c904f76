//! The messages and the service of `ext_mcp.proto`, which stands beside this file.

use prost::{Enumeration, Message, Oneof};

/// `params` of a request.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct McpRequest {
    #[prost(string, repeated, tag = "1")]
    pub(crate) service_names: Vec<String>,
    #[prost(string, tag = "2")]
    pub(crate) method: String,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(crate) mcp_request: Option<Vec<u8>>,
}

/// The result of a request.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct McpResponse {
    #[prost(string, repeated, tag = "1")]
    pub(crate) service_names: Vec<String>,
    #[prost(string, tag = "2")]
    pub(crate) method: String,
    #[prost(bytes = "vec", tag = "4")]
    pub(crate) mcp_response: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct McpRequestResult {
    #[prost(oneof = "RequestVerdict", tags = "1, 2, 3")]
    pub(crate) result: Option<RequestVerdict>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum RequestVerdict {
    #[prost(message, tag = "1")]
    Pass(Pass),
    #[prost(bytes = "vec", tag = "2")]
    Mutated(Vec<u8>),
    #[prost(message, tag = "3")]
    Error(AuthorizationError),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct McpResponseResult {
    #[prost(oneof = "ResponseVerdict", tags = "1, 2, 3")]
    pub(crate) result: Option<ResponseVerdict>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum ResponseVerdict {
    #[prost(message, tag = "1")]
    Pass(Pass),
    #[prost(bytes = "vec", tag = "2")]
    Mutated(Vec<u8>),
    #[prost(message, tag = "3")]
    Error(AuthorizationError),
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Pass {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AuthorizationError {
    #[prost(enumeration = "ErrorCode", tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) reason: String,
    /// JSON of an error of JSON-RPC.
    #[prost(bytes = "vec", optional, tag = "3")]
    pub(crate) mcp_error: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub(crate) enum ErrorCode {
    Unknown = 0,
    PermissionDenied = 1,
    ResourceExhausted = 2,
    Invalid = 3,
}

/// The server's side of the service, as tonic's generator writes it.
pub(crate) mod server {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use tonic::body::Body;
    use tonic::codegen::{BoxFuture, Service, http};
    use tonic::server::{Grpc, UnaryService};
    use tonic::{Request, Response, Status};
    use tonic_prost::ProstCodec;

    use super::{McpRequest, McpRequestResult, McpResponse, McpResponseResult};

    /// The name of the service.
    pub(crate) const SERVICE_NAME: &str = "agentgateway.dev.ext_mcp.ExtMcp";

    /// What the service does.
    #[tonic::async_trait]
    pub(crate) trait ExtMcp: Send + Sync + 'static {
        async fn check_request(
            &self,
            request: Request<McpRequest>,
        ) -> Result<Response<McpRequestResult>, Status>;
        async fn check_response(
            &self,
            request: Request<McpResponse>,
        ) -> Result<Response<McpResponseResult>, Status>;
    }

    /// Answers requests of gRPC.
    pub(crate) struct ExtMcpServer<T> {
        inner: Arc<T>,
        longest: usize,
    }

    impl<T> Clone for ExtMcpServer<T> {
        fn clone(&self) -> Self {
            Self {
                inner: Arc::clone(&self.inner),
                longest: self.longest,
            }
        }
    }

    impl<T: ExtMcp> ExtMcpServer<T> {
        /// `longest` is how many bytes a message may have.
        pub(crate) fn new(inner: T, longest: usize) -> Self {
            Self {
                inner: Arc::new(inner),
                longest,
            }
        }
    }

    struct CheckRequest<T>(Arc<T>);

    impl<T: ExtMcp> UnaryService<McpRequest> for CheckRequest<T> {
        type Response = McpRequestResult;
        type Future = BoxFuture<Response<McpRequestResult>, Status>;

        fn call(&mut self, request: Request<McpRequest>) -> Self::Future {
            let inner = Arc::clone(&self.0);
            Box::pin(async move { inner.check_request(request).await })
        }
    }

    struct CheckResponse<T>(Arc<T>);

    impl<T: ExtMcp> UnaryService<McpResponse> for CheckResponse<T> {
        type Response = McpResponseResult;
        type Future = BoxFuture<Response<McpResponseResult>, Status>;

        fn call(&mut self, request: Request<McpResponse>) -> Self::Future {
            let inner = Arc::clone(&self.0);
            Box::pin(async move { inner.check_response(request).await })
        }
    }

    impl<T, B> Service<http::Request<B>> for ExtMcpServer<T>
    where
        T: ExtMcp,
        B: tonic::codegen::Body + Send + 'static,
        B::Error: Into<tonic::codegen::StdError> + Send + 'static,
    {
        type Response = http::Response<Body>;
        type Error = Infallible;
        type Future = BoxFuture<Self::Response, Infallible>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: http::Request<B>) -> Self::Future {
            let (inner, longest) = (Arc::clone(&self.inner), self.longest);
            Box::pin(async move {
                Ok(match request.uri().path() {
                    "/agentgateway.dev.ext_mcp.ExtMcp/CheckRequest" => {
                        let grpc = Grpc::new(ProstCodec::default());
                        let mut grpc = grpc.max_decoding_message_size(longest);
                        grpc.unary(CheckRequest(inner), request).await
                    }
                    "/agentgateway.dev.ext_mcp.ExtMcp/CheckResponse" => {
                        let grpc = Grpc::new(ProstCodec::default());
                        let mut grpc = grpc.max_decoding_message_size(longest);
                        grpc.unary(CheckResponse(inner), request).await
                    }
                    _ => Status::unimplemented("the method is not known").into_http(),
                })
            })
        }
    }
}
