//! libslz's C interface to `linerate-deflate`. Programs that are linked with `libslz.so.1`, or
//! compiled with `slz.h`, use this encoder unchanged.
//!
//! Only the C functions are exported. `slz.h` documents them and declares the types.
//!
//! | module | content |
//! |---|---|
//! | `descriptor` | `struct slz_stream`, and its conversion to a stream |
//! | `functions` | the exported functions |

mod descriptor;
mod functions;
