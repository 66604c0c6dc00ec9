//! libslz's C interface over `linerate-deflate`: programs that are linked with `libslz.so.1`, or compiled with `slz.h`, use
//! this encoder without a change.
//!
//! Only the functions are exported, for C; `slz.h` has their documentation and the types.
//!
//! | module | content |
//! |---|---|
//! | `descriptor` | `struct slz_stream`, and the stream that it stands for |
//! | `functions` | what is exported |

mod descriptor;
mod functions;
