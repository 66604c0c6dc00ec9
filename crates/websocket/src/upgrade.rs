//! [`WebSocketUpgrade`]: the extractor for axum.

use std::future::Future;

use axum_core::extract::FromRequestParts;
use http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{self, WebSocketConfig};

use crate::negotiation::answer;
use crate::options::{Options, Role};
use crate::stream::DeflateStream;

/// A connection: a stream and a sink of messages, which are compressed if the client supports it.
pub type Socket = WebSocketStream<DeflateStream<TokioIo<Upgraded>>>;

/// Extracts the request of a websocket handshake over HTTP/1.1 and accepts it, with compression if
/// the client offers it. It takes the place of axum's extractor of the same name. A request that is
/// no such handshake is rejected with the status 400, 405 or 426.
///
/// ```no_run
/// use linerate_websocket::{Options, WebSocketUpgrade};
/// # type Response = http::Response<axum_core::body::Body>;
///
/// async fn chat(upgrade: WebSocketUpgrade) -> Response {
///     upgrade.options(Options::window_bits(11)).on_upgrade(async |mut socket| {
///         let _ = socket.send("welcome".into()).await;
///     })
/// }
/// # use futures_util::SinkExt;
/// ```
pub struct WebSocketUpgrade {
    options: Options,
    config: WebSocketConfig,
    /// The value of `Sec-WebSocket-Accept`.
    accept: HeaderValue,
    offers: String,
    on_upgrade: OnUpgrade,
}

impl WebSocketUpgrade {
    /// Sets the options of compression.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        WebSocketUpgrade { options, ..self }
    }

    /// Sets the limits and buffers of tungstenite, which count decoded bytes.
    #[must_use]
    pub fn config(self, config: WebSocketConfig) -> Self {
        WebSocketUpgrade { config, ..self }
    }

    /// Returns the response to the handshake. Once the response was sent, `serve` gets the
    /// connection, in a task of its own. It is not called if the upgrade fails.
    ///
    /// # Panics
    /// Panics outside a runtime of tokio.
    pub fn on_upgrade<B, F, T>(self, serve: F) -> Response<B>
    where
        B: Default,
        F: FnOnce(Socket) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let WebSocketUpgrade { options, config, accept, offers, on_upgrade } = self;
        let mut response = Response::new(B::default());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        let agreement = answer(&options, &offers).and_then(|(agreement, header)| {
            headers.insert(SEC_WEBSOCKET_EXTENSIONS, HeaderValue::try_from(header).ok()?);
            Some(agreement)
        });
        tokio::spawn(async move {
            let Ok(upgraded) = on_upgrade.await else { return };
            let Ok(stream) = DeflateStream::agreed(TokioIo::new(upgraded), Role::Server, options, agreement)
            else {
                return;
            };
            let socket = WebSocketStream::from_raw_socket(stream, protocol::Role::Server, Some(config));
            serve(socket.await).await;
        });
        response
    }
}

impl<S: Sync> FromRequestParts<S> for WebSocketUpgrade {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let bad = |reason| (StatusCode::BAD_REQUEST, reason);
        if parts.method != Method::GET {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "a websocket handshake must be a GET request"));
        }
        let headers = &parts.headers;
        if !has_token(headers, &CONNECTION, "upgrade") || !has_token(headers, &UPGRADE, "websocket") {
            return Err((StatusCode::UPGRADE_REQUIRED, "the request does not upgrade to a websocket"));
        }
        if !has_token(headers, &SEC_WEBSOCKET_VERSION, "13") {
            return Err(bad("Sec-WebSocket-Version must be 13"));
        }
        let key = headers.get(SEC_WEBSOCKET_KEY).ok_or(bad("Sec-WebSocket-Key is missing"))?;
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()));
        let values = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter().filter_map(|value| value.to_str().ok());
        let offers = values.collect::<Vec<_>>().join(", ");
        let on_upgrade = parts.extensions.remove::<OnUpgrade>();
        Ok(WebSocketUpgrade {
            options: Options::default(),
            config: WebSocketConfig::default(),
            accept: accept.map_err(|_| bad("Sec-WebSocket-Key is not a valid header value"))?,
            offers,
            on_upgrade: on_upgrade
                .ok_or((StatusCode::UPGRADE_REQUIRED, "the connection cannot be upgraded"))?,
        })
    }
}

/// Whether the list in a header contains `token`, in any case.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| item.trim().eq_ignore_ascii_case(token))
}
