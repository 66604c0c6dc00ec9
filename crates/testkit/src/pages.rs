//! Compiles the Rust blocks of the documentation as documentation tests. Pages are outside of every
//! package, so no published crate can include them. `tests/it/documents.rs` checks that no page
//! with a `rust` block is missing, but does not look for pages with `rust,no_run` blocks alone.

macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(#[doc = include_str!(concat!("../../../docs/", $path))] mod $name {})*
    };
}

pages! {
    deflate "deflate/index.md"
    dict "dict/index.md"
    dict_engine "dict/engine.md"
    dict_files "dict/files.md"
    dict_sst "dict/sst.md"
    gateway "gateway/index.md"
    gateway_serve "gateway/serve.md"
    gateway_stats "gateway/stats.md"
    http "http/index.md"
    inflate "inflate/index.md"
    nx "nx/index.md"
    nx_metadata "nx/metadata.md"
    nx_pack "nx/pack.md"
    nx_reading "nx/reading.md"
    nx_reference "nx/reference.md"
    websocket "websocket/index.md"
    zstd "zstd/index.md"
}
