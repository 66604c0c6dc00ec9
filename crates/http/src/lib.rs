//! Compressed responses for tower services: axum, hyper.
//!
//! [`CompressionLayer`] decides which responses to compress, with gzip or deflate, and [`CompressionBody`] does it. An encoder
//! forgets what it has sent, so a response that waits holds 16 bytes and no window; server-sent events, which are too short to
//! compress alone, get a small one. What a body has is sent as soon as it pauses.
//!
//! ```
//! use axum::{Router, routing::get};
//! use linerate_http::{CompressionLayer, Options};
//!
//! let router: Router = Router::new()
//!     .route("/", get(|| async { "a page\n".repeat(1000) }))
//!     .layer(CompressionLayer::new(Options::new().max_cpu(85)));
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `layer` | [`CompressionLayer`], [`Compression`], and the header fields of responses |
//! | `rules` | which responses may be compressed |
//! | `media` | which media types are worth it |
//! | `negotiation` | `Accept-Encoding` |
//! | `body` | [`CompressionBody`]: frames of another body, compressed |
//! | `encoder` | one response's encoder: with or without a window |
//! | `load` | the level under load |
//! | `options` | [`Options`] |

mod body;
mod encoder;
mod layer;
mod load;
mod media;
mod negotiation;
mod options;
mod rules;

pub use body::CompressionBody;
pub use layer::{Compression, CompressionLayer, ResponseFuture};
pub use linerate_deflate::Level;
pub use negotiation::{Coding, negotiate};
pub use options::Options;
pub use rules::NoCompression;
