//! libslz's C interface to `linerate-deflate`. Unchanged programs that are linked with
//! `libslz.so.1`, or compiled with `slz.h`, use this encoder.
//!
//! Only the C functions are exported. `slz.h` documents them and declares the types.
//!
//! | module | content |
//! |---|---|
//! | `descriptor` | `struct slz_stream`, and its conversion to a stream |
//! | `functions` | the exported functions |

mod descriptor;
mod functions;
