//! The layer, and the header fields of responses.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, VARY,
};
use http::{Method, Request, Response};
use http_body::Body;
use linerate_deflate::Level;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::body::CompressionBody;
use crate::encoder::Encoder;
use crate::load::Load;
use crate::media::is_event_stream;
use crate::negotiation::{Coding, negotiate};
use crate::options::Options;
use crate::rules::{Eligibility, content_length, eligibility};

/// The options of a layer, and the load that all its services share.
#[derive(Clone)]
struct Shared {
    level: Level,
    min_size: u64,
    event_window_bits: u8,
    load: Option<Arc<Load>>,
}

/// A layer that compresses the responses of a service.
///
/// Clones of a layer, and the services that they make, share the limits of [`Options`].
#[derive(Clone)]
pub struct CompressionLayer {
    shared: Shared,
}

impl CompressionLayer {
    /// Creates a layer with `options`.
    pub fn new(options: Options) -> Self {
        let load = options.load().map(Arc::new);
        let Options { level, min_size, event_window_bits, .. } = options;
        CompressionLayer { shared: Shared { level, min_size, event_window_bits, load } }
    }
}

impl Default for CompressionLayer {
    fn default() -> Self {
        CompressionLayer::new(Options::default())
    }
}

impl fmt::Debug for CompressionLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressionLayer").field("level", &self.shared.level).finish_non_exhaustive()
    }
}

impl<S> Layer<S> for CompressionLayer {
    type Service = Compression<S>;

    fn layer(&self, inner: S) -> Compression<S> {
        Compression { inner, shared: self.shared.clone() }
    }
}

/// A service that compresses the responses of an inner service; see [`CompressionLayer`].
#[derive(Clone)]
pub struct Compression<S> {
    inner: S,
    shared: Shared,
}

impl<S> Compression<S> {
    /// Compresses the responses of `inner` with `options`.
    pub fn new(inner: S, options: Options) -> Self {
        CompressionLayer::new(options).layer(inner)
    }
}

impl<S: fmt::Debug> fmt::Debug for Compression<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compression").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, RequestBody, ResponseBody> Service<Request<RequestBody>> for Compression<S>
where
    S: Service<Request<RequestBody>, Response = Response<ResponseBody>>,
    ResponseBody: Body,
{
    type Response = Response<CompressionBody<ResponseBody>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<RequestBody>) -> ResponseFuture<S::Future> {
        let (method, accepted) = (request.method().clone(), negotiate(request.headers()));
        ResponseFuture { inner: self.inner.call(request), method, accepted, shared: self.shared.clone() }
    }
}

pin_project! {
    /// The future of a response of [`Compression`].
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        method: Method,
        accepted: Option<Coding>,
        shared: Shared,
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<CompressionBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.inner.poll(cx)?);
        Poll::Ready(Ok(compress(response, this.method, *this.accepted, this.shared)))
    }
}

/// Compresses a response if the rules allow it, the client accepts a coding, and the level under
/// the current load is above [`Level::Stored`]. `method` is the method of the request.
fn compress<B: Body>(
    response: Response<B>,
    method: &Method,
    accepted: Option<Coding>,
    shared: &Shared,
) -> Response<CompressionBody<B>> {
    let (mut parts, body) = response.into_parts();
    // A response to HEAD has the headers of one to GET (RFC 9110, section 9.3.2), but its body may
    // be empty already. Then `Content-Length` tells the length; without that field the resource
    // counts as empty, since a HEAD response may omit headers of GET, but not contradict them.
    let is_head = *method == Method::HEAD;
    let length = match body.size_hint().exact() {
        Some(0) if is_head => content_length(&parts.headers).or(Some(0)),
        exact => exact.or_else(|| content_length(&parts.headers)),
    };
    let eligibility = eligibility(method, &parts, length, shared.min_size);
    if eligibility == Eligibility::Never {
        return Response::from_parts(parts, CompressionBody::identity(body));
    }
    let headers = &mut parts.headers;
    vary_by_encoding(headers);
    let level = shared.load.as_ref().map_or(shared.level, |load| load.level());
    let Some(coding) = accepted.filter(|_| level > Level::Stored) else {
        return Response::from_parts(parts, CompressionBody::identity(body));
    };
    weaken_etag(headers);
    if eligibility == Eligibility::Validator {
        return Response::from_parts(parts, CompressionBody::identity(body));
    }
    let is_windowed = shared.event_window_bits != 0 && is_event_stream(headers.get(CONTENT_TYPE));
    headers.insert(CONTENT_ENCODING, coding.header_value());
    headers.remove(CONTENT_LENGTH);
    // With this field, clients would ask for ranges, which count bytes of the compressed content.
    headers.remove(ACCEPT_RANGES);
    if is_head {
        return Response::from_parts(parts, CompressionBody::head(body));
    }
    let encoder = if is_windowed {
        Encoder::with_window(coding, level, shared.event_window_bits)
    } else {
        Encoder::new(coding, level)
    };
    Response::from_parts(parts, CompressionBody::with_encoder(body, Some(encoder), shared.load.clone()))
}

/// Adds to `Vary`, unless it says so, that the response depends on `Accept-Encoding` (RFC 9110,
/// section 12.5.5).
fn vary_by_encoding(headers: &mut HeaderMap) {
    let values = headers.get_all(VARY).iter().filter_map(|value| value.to_str().ok());
    let mut names = values.flat_map(|value| value.split(',')).map(str::trim);
    if !names.any(|name| name == "*" || name.eq_ignore_ascii_case("accept-encoding")) {
        headers.append(VARY, ACCEPT_ENCODING.into());
    }
}

/// Makes the `ETag` weak. The same content in another coding must have another strong validator,
/// but may have the same weak one (RFC 9110, sections 8.8.1 and 8.8.3.3).
fn weaken_etag(headers: &mut HeaderMap) {
    if let Some(etag) = headers.get_mut(ETAG)
        && etag.as_bytes().starts_with(b"\"")
        && let Ok(weak) = HeaderValue::from_bytes(&[b"W/", etag.as_bytes()].concat())
    {
        *etag = weak;
    }
}
