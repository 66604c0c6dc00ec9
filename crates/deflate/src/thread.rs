//! A scratch kept by each thread, for streams that have none of their own.

use std::cell::Cell;

use crate::Scratch;

/// Largest output buffer that a thread keeps, in bytes. A larger one is allocated for one call.
const KEPT_OUTPUT: usize = 256 << 10;

struct Work {
    scratch: Box<Scratch>,
    output: Vec<u8>,
}

thread_local! {
    static WORK: Cell<Option<Work>> = const { Cell::new(None) };
}

/// Calls `work` with this thread's [`Scratch`] and with an output buffer of `len` bytes, whose
/// contents are unspecified. Use it in a library that has many streams and no place for a scratch.
/// The thread's first call allocates both, and the end of the thread frees them. An output buffer
/// of more than 256 KiB is freed after the call. A call within `work` gets another scratch and
/// buffer.
///
/// ```
/// use linerate_deflate::{Format, Level, compress, compress_bound, with_thread_scratch};
///
/// let page = b"<p>hello</p>";
/// let compressed = with_thread_scratch(compress_bound(page.len()), |scratch, out| {
///     compress(Format::Gzip, Level::Default, scratch, page, out).map(|n| out[..n].to_vec())
/// })?;
/// assert_eq!(compressed[..3], [0x1f, 0x8b, 8]);
/// # Ok::<(), linerate_deflate::Error>(())
/// ```
pub fn with_thread_scratch<R>(len: usize, work: impl FnOnce(&mut Scratch, &mut [u8]) -> R) -> R {
    // While the thread ends, `try_with` fails and a new scratch is made.
    let kept = WORK.try_with(Cell::take).ok().flatten();
    let mut own = kept.unwrap_or_else(|| Work { scratch: Scratch::boxed(), output: Vec::new() });
    if own.output.len() < len {
        own.output = vec![0; len];
    }
    let result = work(&mut own.scratch, &mut own.output[..len]);
    if own.output.len() > KEPT_OUTPUT {
        own.output = Vec::new();
    }
    // While the thread ends, nothing is kept.
    let _ = WORK.try_with(|place| place.set(Some(own)));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_and_short_output_are_kept_between_calls() {
        let place =
            |len| with_thread_scratch(len, |scratch, out| (scratch as *const _ as usize, out.as_ptr()));
        let first = place(1000);
        assert_eq!(place(999), first);
        assert_eq!(place(KEPT_OUTPUT + 1).0, first.0);
        WORK.with(|work| {
            let kept = work.take().expect("kept");
            assert_eq!(kept.output.capacity(), 0);
        });
    }

    #[test]
    fn call_within_a_call_gets_another_scratch() {
        with_thread_scratch(1, |outer, _| {
            with_thread_scratch(1, |inner, _| assert!(!std::ptr::eq(outer, inner)));
        });
    }

    #[test]
    fn calls_while_the_thread_ends_have_a_scratch() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                assert_eq!(with_thread_scratch(3, |_, out| out.len()), 3);
            }
        }
        thread_local! {
            static LAST: Last = const { Last };
        }
        let ended = std::thread::spawn(|| {
            LAST.with(|_| ());
            with_thread_scratch(1, |_, _| ());
        });
        assert!(ended.join().is_ok());
    }
}
