//! `linerate rice verify`: decodes a file and keeps nothing.

use std::fmt::Debug;

use linerate_core::Kind;
use linerate_rice::Params;

use super::args::{RawArgs, VerifyArgs};
use super::array::{Dtype, Word};
use super::chunk::{self, Walk};
use super::done::Done;
use super::input::Input;
use super::operand::Operand;
use super::parameters;
use super::reader::Reader;
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn process(args: &VerifyArgs, operand: &Operand) -> Result<Done, Failure> {
    let mut done = Done::new(operand, "verify");
    let (mut reader, _) = operand.open()?;
    let mut original = match &args.against {
        Some(path) => Some(Original::open(&Operand::of(path), args.dtype)?),
        None => None,
    };
    let say = &args.work.say;
    let mut progress = Progress::new(!say.quiet && !say.json, &operand.name(), reader.len());
    let params = args.chunk.params().unwrap_or_default();
    v1(args, &params, &mut reader, original.as_mut(), &mut progress, &mut done)?;
    drop(progress);
    done.set("against", original.map(|original| original.name));
    done.bytes_in = reader.at();
    Ok(done.end())
}

fn v1(
    args: &VerifyArgs,
    params: &Params,
    reader: &mut Reader,
    mut original: Option<&mut Original>,
    progress: &mut Progress,
    done: &mut Done,
) -> Result<(), Failure> {
    let walk = Walk::new(reader, params)?;
    let samples = walk.samples();
    if let Some(original) = original.as_deref_mut() {
        original.check(samples, |dtype| matches!(dtype, Dtype::I16 | Dtype::U16))?;
    }
    done.set("format", "v1");
    done.extend(parameters::record(params));
    done.set("samples", samples);
    chunk::decode_all(walk, params, args.work.exec(), &mut |samples, used| {
        progress.update(used);
        original.as_deref_mut().map_or(Ok(()), |original| original.compare(samples))
    })
}

/// The array that a file was made from.
struct Original {
    name: String,
    input: Input,
    compared: u64,
}

impl Original {
    fn open(operand: &Operand, dtype: Option<Dtype>) -> Result<Original, Failure> {
        let name = operand.name();
        let opened =
            operand.open().and_then(|(reader, _)| Input::open(reader, &RawArgs { dtype, shape: None }));
        // The failure is reported under the name of the encoded file.
        let input = opened.map_err(|failure| failure.within(&name))?;
        Ok(Original { name, input, compared: 0 })
    }

    fn differs(&self, at: u64, what: String) -> Failure {
        Failure::data(Kind::Corrupt, at, what)
    }

    fn check(&self, samples: u64, fits: impl Fn(Dtype) -> bool) -> Result<(), Failure> {
        let dtype = self.input.dtype();
        if !fits(dtype) {
            let what = format!("it does not hold {} samples as {} does", dtype.name(), self.name);
            return Err(self.differs(0, what));
        }
        match self.input.samples() {
            Some(there) if there != samples => {
                let what = format!("it has {samples} samples, {} has {there}", self.name);
                Err(self.differs(0, what))
            }
            _ => Ok(()),
        }
    }

    fn compare<T: Word + Debug>(&mut self, samples: &[T]) -> Result<(), Failure> {
        let mut there: Vec<T> = Vec::new();
        self.input.next(samples.len() as u64, &mut there).map_err(|failure| failure.within(&self.name))?;
        if there == samples {
            self.compared += samples.len() as u64;
            return Ok(());
        }
        let at = there.iter().zip(samples).take_while(|(a, b)| a == b).count();
        let sample = self.compared + at as u64;
        let what = match (there.get(at), samples.get(at)) {
            (Some(there), Some(here)) => {
                format!("sample {sample} is {here:?}, in {} it is {there:?}", self.name)
            }
            _ => format!("{} ends before sample {sample}", self.name),
        };
        Err(self.differs(self.input.start() + sample * size_of::<T>() as u64, what))
    }
}
