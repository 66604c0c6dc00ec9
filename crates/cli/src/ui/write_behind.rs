//! Writes output on a second thread, while the first one produces the next part.

use std::io::Write;
use std::mem;
use std::panic;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use linerate_core::lock;

use crate::ui::error::CliError;
use crate::ui::output::Output;

/// Maximum number of buffers that the writing thread holds: one that is being written, and one that
/// waits.
const AWAY: usize = 2;

/// Takes the parts of an output in order.
pub(crate) trait Target {
    /// Writes bytes.
    fn put(&mut self, bytes: &[u8]) -> Result<(), CliError>;

    /// Writes the first `len` bytes of a buffer. May replace the buffer by another one of the same
    /// size, with any content.
    fn put_buffer(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<(), CliError> {
        self.put(&buffer[..len])
    }
}

impl Target for Output {
    fn put(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.write_all(bytes).map_err(|e| self.error(e))
    }
}

#[cfg(test)]
impl Target for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Calls `work` with a target whose buffers another thread writes to `output`, and returns when all
/// of them are written. If no thread can be started, the target is `output` itself.
///
/// # Errors
/// The error of writing on that thread, else the error of `work`. What `work` gave to its target
/// before its error is written.
pub(crate) fn write_behind<T>(
    output: &mut Output,
    work: impl FnOnce(&mut dyn Target) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let output = &Mutex::new(output);
    thread::scope(|scope| {
        let (give, take) = mpsc::sync_channel(AWAY);
        let (give_back, back) = mpsc::channel();
        let writer =
            thread::Builder::new().spawn_scoped(scope, move || write_buffers(output, &take, &give_back));
        let Ok(writer) = writer else { return work(&mut **lock(output)) };
        let mut behind = Behind { output, give, back, away: 0, spare: Vec::new() };
        let result = work(&mut behind);
        // The writer ends when it has written all buffers that it was given.
        drop(behind);
        writer.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?;
        result
    })
}

/// A buffer, and how many of its first bytes are to be written.
type Part = (Vec<u8>, usize);

/// Runs on the writing thread: writes each buffer to `output` and gives it back, until the other
/// thread has no more.
fn write_buffers(
    output: &Mutex<&mut Output>,
    take: &Receiver<Part>,
    give_back: &Sender<Vec<u8>>,
) -> Result<(), CliError> {
    for (buffer, len) in take {
        lock(output).put(&buffer[..len])?;
        // Giving the last buffers back may fail, since the other thread no longer waits for them.
        let _ = give_back.send(buffer);
    }
    Ok(())
}

/// The target of the thread that produces the output.
struct Behind<'a, 'o> {
    output: &'a Mutex<&'o mut Output>,
    give: SyncSender<Part>,
    back: Receiver<Vec<u8>>,
    /// Number of buffers that were given to the writing thread and did not come back yet.
    away: usize,
    /// Buffers that came back.
    spare: Vec<Vec<u8>>,
}

impl Behind<'_, '_> {
    /// Waits until the writing thread holds at most `most` buffers.
    fn wait(&mut self, most: usize) -> Result<(), CliError> {
        while self.away > most {
            self.spare.push(self.back.recv().map_err(|_| writer_has_failed())?);
            self.away -= 1;
        }
        Ok(())
    }
}

/// The error that ends the work after the writing thread has failed. [`write_behind`] returns the
/// error of that thread instead.
fn writer_has_failed() -> CliError {
    CliError::ClosedPipe
}

impl Target for Behind<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.wait(0)?;
        lock(self.output).put(bytes)
    }

    fn put_buffer(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<(), CliError> {
        if len == 0 {
            return Ok(());
        }
        self.wait(AWAY - 1)?;
        let next = self.spare.pop().unwrap_or_else(|| vec![0; buffer.len()]);
        let part = (mem::replace(buffer, next), len);
        self.give.send(part).map_err(|_| writer_has_failed())?;
        self.away += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes `parts` by [`write_behind`], every third one with `put`, then fails if `fails`.
    /// Returns the content of the file.
    fn written(parts: &[Vec<u8>], fails: bool) -> (Vec<u8>, Result<(), CliError>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let mut output = Output::at(&path, false).expect("an output");
        let result = write_behind(&mut output, |target| {
            let mut buffer = vec![0; 100];
            for (i, part) in parts.iter().enumerate() {
                if i % 3 == 2 {
                    target.put(part)?;
                    continue;
                }
                buffer[..part.len()].copy_from_slice(part);
                target.put_buffer(&mut buffer, part.len())?;
                assert_eq!(buffer.len(), 100);
            }
            if fails { Err(CliError::Refused("no more".into())) } else { Ok(()) }
        });
        output.commit().expect("it gets its name");
        (fs::read(&path).expect("it is there"), result)
    }

    #[test]
    fn parts_are_written_in_order_also_those_before_an_error() {
        let parts: Vec<Vec<u8>> = (0..100).map(|i| vec![i; usize::from(i)]).collect();
        for fails in [false, true] {
            let (content, result) = written(&parts, fails);
            assert!(content == parts.concat());
            assert_eq!(result.is_err(), fails);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_of_the_writer_ends_the_work_and_is_the_result() {
        let mut output = Output::at("/dev/full".as_ref(), false).expect("an output");
        let result = write_behind(&mut output, |target| {
            let mut buffer = vec![1; 100];
            // The loop ends because the writer returns no buffer.
            loop {
                target.put_buffer(&mut buffer, 100)?;
            }
            #[expect(unreachable_code, reason = "the type of the result")]
            Ok(())
        });
        let error = result.expect_err("the device is full").to_string();
        assert!(error.starts_with("cannot write /dev/full"), "{error}");
    }
}
