//! One stream from many threads.
