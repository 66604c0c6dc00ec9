//! Translates the results that kernels write to sizes, and to errors as `linerate-rice` has them.

use std::ffi::{CStr, c_char};

use linerate_core::{Error, Kind};

use crate::layout::{OK, ResultWords};

/// The result of a chunk: the number of samples decoded or bytes encoded, or the error. The offset
/// of the error is in bytes from the start of the chunk.
pub type Outcome = linerate_core::Result<usize>;

/// The number of each `enum rice_problem` of `kernels.h`, and its message.
const MESSAGES: &[(u8, &CStr)] = &[
    (1, c"a chunk ends within its first word"),
    (2, c"a chunk ends before its last segment"),
    (3, c"a segment is longer than what is left"),
    (4, c"a chunk is too short for its number of samples"),
    (5, c"a segment is too short for its samples"),
    (6, c"a chunk goes on after its last segment"),
    (7, c"a segment ends before its samples do"),
    (8, c"more than eight zeros in a code"),
    (9, c"a segment goes on after its samples"),
    (10, c"the bits after the last code are not zero"),
    (11, c"the output has fewer samples than are to be decoded"),
    (12, c"the output cannot hold the chunk"),
    (13, c"a chunk of about 16 GiB or more, which only the CPU decodes"),
    (20, c"the stream ends within its header"),
    (21, c"not a version 2 stream"),
    (22, c"a stream of an unknown version"),
    (23, c"the checksum of the header does not match"),
    (24, c"samples of an unknown type"),
    (25, c"a stream with unknown features"),
    (26, c"segments of no samples or of more than 65536"),
    (27, c"the stream ends within its table of segments"),
    (28, c"the stream ends before its last segment does"),
    (29, c"the shape of the array is damaged"),
    (30, c"bytes follow the stream"),
    (31, c"the samples of the stream are of another type"),
    (32, c"a segment that ends before it begins, or too late"),
    (33, c"a segment too short for what it holds"),
    (34, c"a raw segment that does not end after its samples"),
    (35, c"a segment of an unknown kind"),
    (36, c"modes that do not exist"),
    (37, c"a prediction that shifts by more than 15 bits"),
    (38, c"a prediction of an impossible order"),
    (39, c"a block of a mode that does not exist"),
    (40, c"a segment whose codes do not match its samples"),
    (41, c"the checksum of a segment does not match"),
    (42, c"more segments than were announced: the samples per segment are fewer than the caller said"),
    (43, c"more than 16 GiB in one stream"),
    (44, c"an impossible number of channels"),
    (45, c"a reference to a channel that does not come before"),
    (46, c"channels in a stream in device memory: pass it in host memory, or decode it by the CPU"),
    (47, c"samples in a stream of bytes of a file"),
    (48, c"a record of the file is damaged"),
    (49, c"a record of a file of an unknown form"),
    (50, c"the output cannot hold the stream"),
];

/// The kinds of errors that `enum rice_kind` of `kernels.h` numbers from 1.
const KINDS: [Kind; 6] =
    [Kind::Truncated, Kind::Corrupt, Kind::Unsupported, Kind::OutputTooSmall, Kind::BadArgument, Kind::Limit];

/// Converts a `rice_result` to an outcome.
pub(crate) fn outcome(words: ResultWords) -> Outcome {
    if words.status == OK {
        return Ok(usize::try_from(words.size).unwrap_or(usize::MAX));
    }
    let [kind, problem, ..] = words.status.to_le_bytes();
    let kind = KINDS.get(usize::from(kind).wrapping_sub(1)).copied().unwrap_or(Kind::Corrupt);
    let message = MESSAGES.iter().find(|row| row.0 == problem).and_then(|row| row.1.to_str().ok());
    Err(Error::new(kind, words.status >> 16, message.unwrap_or("the device reports an unknown problem")))
}

/// Returns the message of an [`outcome`] as a constant C string.
pub(crate) fn c_message(message: &str) -> *const c_char {
    let found = MESSAGES.iter().find(|row| row.1.to_bytes() == message.as_bytes());
    found.map_or(c"the device reports an unknown problem", |row| row.1).as_ptr()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn status_becomes_kind_message_and_offset() {
        assert_eq!(outcome(ResultWords { status: OK, size: 7 }), Ok(7));
        let e = outcome(ResultWords { status: 4096 << 16 | 41 << 8 | 2, size: 7 }).unwrap_err();
        assert_eq!((e.kind, e.offset), (Kind::Corrupt, 4096));
        assert_eq!(e.message, "the checksum of a segment does not match");
        assert_eq!(outcome(ResultWords { status: 0, size: 0 }).unwrap_err().kind, Kind::Corrupt);
    }

    #[test]
    fn every_problem_of_kernels_h_has_a_message() {
        let header = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/kernels.h")).unwrap();
        let list = header.split("enum rice_problem {").nth(1).unwrap().split("};").next().unwrap();
        let numbers: Vec<u8> = list
            .lines()
            .filter_map(|line| line.split_once("= "))
            .map(|(_, rest)| rest.split([',', ' ']).next().unwrap().parse().unwrap())
            .collect();
        assert!(numbers.len() > 30, "the list is found");
        assert_eq!(numbers, MESSAGES.iter().map(|row| row.0).collect::<Vec<_>>());
    }
}
