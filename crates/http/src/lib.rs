//! Compresses the responses of tower services, for servers built on axum or hyper.
//!
//! [`CompressionLayer`] decides which responses to compress, with gzip or deflate, and
//! [`CompressionBody`] compresses them. An encoder forgets what it has sent, so a response that
//! waits holds 16 bytes and no window. Server-sent events are too short to be compressed alone, so
//! they get a small window. When a body pauses, everything that it has produced is sent.
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
//! | module | content |
//! |---|---|
//! | `layer` | [`CompressionLayer`], [`Compression`], and the header fields of responses |
//! | `rules` | which responses may be compressed |
//! | `media` | which media types are worth compressing |
//! | `negotiation` | which coding the client prefers: `Accept-Encoding` |
//! | `body` | [`CompressionBody`], which compresses the frames of another body |
//! | `encoder` | the encoder of one response, with or without a window |
//! | `load` | the level, which is lower under load |
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
