//! Makes dictionaries that are all different: each has the tables of one of a few trained
//! dictionaries, and its own content.

use linerate_dict::Training;
use linerate_zstd::Dictionary;

use super::data::{Data, Pieces};
use super::{Case, ColdOptions, SEED};
use crate::harness::message;
use linerate_gateway_sim::traffic::Random;

/// The first dictionary ID that needs no registration (RFC 8878, section 5).
const FIRST_NUMBER: u32 = 32_768;
/// Minimum and maximum bytes of the samples with which a dictionary is trained.
const SAMPLES: (usize, usize) = (1 << 20, 4 << 20);
/// Length of the magic number that begins a trained dictionary.
const MAGIC: usize = 4;

/// Makes `case.count` dictionaries of `case.dictionary` bytes, each with its own ID and its own
/// piece of the data as content.
///
/// # Errors
/// A sentence, if the data is too short for that many dictionaries, if their size is too small for
/// tables and content, or if training fails.
pub(crate) fn make(data: &Data, case: &Case, options: &ColdOptions) -> Result<Vec<Vec<u8>>, String> {
    if data.dictionaries.len() < case.dictionary {
        return Err(too_short(data, case));
    }
    let heads = heads(data, case, options)?;
    let mut made = Vec::with_capacity(case.count);
    let pieces: Vec<Pieces<'_>> = heads
        .iter()
        .map(|head| {
            let len = case.dictionary.checked_sub(head.len()).filter(|&len| len >= 64);
            let len = len.ok_or("dictionaries of that size cannot hold content")?;
            Pieces::new(&data.dictionaries, len, SEED as usize).ok_or_else(|| too_short(data, case))
        })
        .collect::<Result<_, String>>()?;
    if pieces.iter().any(|pieces| pieces.places() < case.count) {
        return Err(too_short(data, case));
    }
    for i in 0..case.count {
        let (head, pieces) = (&heads[i % heads.len()], &pieces[i % heads.len()]);
        let mut bytes = Vec::with_capacity(case.dictionary);
        bytes.extend_from_slice(&head[..MAGIC]);
        bytes.extend_from_slice(&(FIRST_NUMBER + i as u32).to_le_bytes());
        bytes.extend_from_slice(&head[MAGIC + 4..]);
        bytes.extend_from_slice(pieces.get(i));
        made.push(bytes);
    }
    Ok(made)
}

fn too_short(data: &Data, case: &Case) -> String {
    format!(
        "{}: {} bytes are too few for {} different dictionaries of {} bytes",
        data.name,
        data.dictionaries.len() + data.blocks.len(),
        case.count,
        case.dictionary
    )
}

/// Trains `options.trained` dictionaries, or `case.count` if that is less, and cuts each off before
/// its content.
fn heads(data: &Data, case: &Case, options: &ColdOptions) -> Result<Vec<Vec<u8>>, String> {
    let mut random = Random::stream(SEED, 1);
    let pieces = Pieces::new(&data.dictionaries, case.block, random.below(1 << 30))
        .ok_or_else(|| too_short(data, case))?;
    let samples = (16 * case.dictionary).clamp(SAMPLES.0, SAMPLES.1) / case.block;
    (0..options.trained.min(case.count))
        .map(|_| {
            let first = random.below(1 << 30);
            let samples: Vec<&[u8]> = (first..first + samples).map(|i| pieces.get(i)).collect();
            let training =
                Training::new(case.dictionary).small_tables(options.small_tables).level(options.level);
            let trained = training.train(&samples).map_err(|e| format!("{}: {}", data.name, e.message))?;
            let content = Dictionary::measure(&trained).map_err(message)?.content_len();
            match trained.len() - content {
                0 => Err(format!("{}: dictionaries of that size are smaller without tables", data.name)),
                head => Ok(trained[..head].to_vec()),
            }
        })
        .collect()
}
