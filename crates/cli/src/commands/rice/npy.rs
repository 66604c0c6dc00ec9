//! The header of an .npy file, versions 1.0 to 3.0, read strictly and written as NumPy writes it.

use linerate_core::Kind;

use super::dtype::Dtype;
use super::reader::Reader;
use super::shape::Shape;
use crate::ui::error::CliError;

pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// No header of a plain array is near this; a longer one is not worth the memory.
const LONGEST: u32 = 64 << 10;

/// Headers end at a multiple of this.
const ALIGNMENT: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Shape,
}

impl Header {
    /// Reads a header, magic first, and leaves the reader at the first sample.
    pub(crate) fn read(reader: &mut Reader) -> Result<Header, CliError> {
        const WHAT: &str = "the input ends inside the .npy header";
        let mut start = [0; 8];
        reader.exactly(&mut start, WHAT)?;
        if start[..6] != MAGIC[..] {
            return Err(CliError::data(Kind::Corrupt, 0, "this is not an .npy file"));
        }
        let len = match start[6..] {
            [1, 0] => {
                let mut len = [0; 2];
                reader.exactly(&mut len, WHAT)?;
                u32::from(u16::from_le_bytes(len))
            }
            [2 | 3, 0] => {
                let mut len = [0; 4];
                reader.exactly(&mut len, WHAT)?;
                u32::from_le_bytes(len)
            }
            _ => {
                let what = format!(".npy files of version {}.{} are not known", start[6], start[7]);
                return Err(CliError::data(Kind::Unsupported, 6, what));
            }
        };
        if len > LONGEST {
            return Err(CliError::data(Kind::Corrupt, 8, "the .npy header is longer than 64 KiB"));
        }
        let at = reader.at();
        let mut text = vec![0; len as usize];
        reader.exactly(&mut text, WHAT)?;
        Dictionary { text: &text, next: 0, at }.header()
    }

    /// The header as bytes, up to the first sample.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let text =
            format!("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", self.dtype.npy(), self.shape);
        // Magic, version and length before the text, a line end after it. 32 axes of 20 digits
        // are far below the 64 KiB of version 1.0.
        let len = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(ALIGNMENT);
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(((len - MAGIC.len() - 4) as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(len - 1, b' ');
        bytes.push(b'\n');
        bytes
    }
}

/// The Python dictionary of a header, being read.
struct Dictionary<'a> {
    text: &'a [u8],
    next: usize,
    /// Offset of the text in the input.
    at: u64,
}

impl Dictionary<'_> {
    fn header(mut self) -> Result<Header, CliError> {
        let (mut dtype, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key_at = self.place();
            let key = self.string()?;
            self.expect(b':')?;
            let known = match key.as_str() {
                "descr" => dtype.replace(self.dtype()?).is_none(),
                "fortran_order" => fortran.replace(self.boolean()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => false,
            };
            if !known {
                return Err(CliError::data(
                    Kind::Corrupt,
                    key_at,
                    "an unknown or repeated key in the .npy header",
                ));
            }
            if !self.take(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        let end = self.place();
        if self.next != self.text.len() {
            return Err(CliError::data(Kind::Corrupt, end, "the .npy header goes on after its dictionary"));
        }
        match (dtype, fortran, shape) {
            (Some(dtype), Some((fortran, fortran_at)), Some(shape)) => {
                // With at most one axis longer than 1 both orders are the same.
                if fortran && shape.0.iter().filter(|&&axis| axis != 1).count() > 1 {
                    let what = "the array is in Fortran order; numpy.ascontiguousarray makes one in C order";
                    return Err(CliError::data(Kind::Unsupported, fortran_at, what));
                }
                Ok(Header { dtype, shape })
            }
            _ => {
                Err(CliError::data(Kind::Corrupt, end, "the .npy header lacks descr, fortran_order or shape"))
            }
        }
    }

    /// Passes over blanks; the offset of what follows.
    fn place(&mut self) -> u64 {
        while self.text.get(self.next).is_some_and(u8::is_ascii_whitespace) {
            self.next += 1;
        }
        self.at + self.next as u64
    }

    fn garbled<T>(&mut self) -> Result<T, CliError> {
        Err(CliError::data(Kind::Corrupt, self.place(), "the .npy header cannot be understood"))
    }

    fn take(&mut self, byte: u8) -> bool {
        self.place();
        let found = self.text.get(self.next) == Some(&byte);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), CliError> {
        if self.take(byte) { Ok(()) } else { self.garbled() }
    }

    fn string(&mut self) -> Result<String, CliError> {
        self.place();
        let Some(&quote @ (b'\'' | b'"')) = self.text.get(self.next) else { return self.garbled() };
        let rest = &self.text[self.next + 1..];
        let Some(len) = rest.iter().position(|&b| b == quote) else { return self.garbled() };
        let inside = String::from_utf8_lossy(&rest[..len]).into_owned();
        self.next += len + 2;
        Ok(inside)
    }

    fn dtype(&mut self) -> Result<Dtype, CliError> {
        let at = self.place();
        let unsupported = |what: String| Err(CliError::data(Kind::Unsupported, at, what));
        if self.text.get(self.next) == Some(&b'[') {
            return unsupported("records are not coded, only arrays of one type".into());
        }
        let description = self.string()?;
        if let Some(dtype) = Dtype::from_npy(&description) {
            return Ok(dtype);
        }
        match description.strip_prefix('>') {
            Some(kind @ ("i2" | "u2" | "i4" | "u4")) => unsupported(format!(
                "the samples are big-endian ('>{kind}'); numpy's astype('<{kind}') makes little-endian ones"
            )),
            _ => unsupported(format!("samples of type '{description}', not of '<i2', '<u2', '<i4' or '<u4'")),
        }
    }

    fn boolean(&mut self) -> Result<(bool, u64), CliError> {
        let at = self.place();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.next..].starts_with(word.as_bytes()) {
                self.next += word.len();
                return Ok((value, at));
            }
        }
        self.garbled()
    }

    fn shape(&mut self) -> Result<Shape, CliError> {
        let at = self.place();
        self.expect(b'(')?;
        let mut axes = Vec::new();
        while !self.take(b')') {
            axes.push(self.number()?);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        let shape = Shape(axes);
        match shape.samples() {
            _ if shape.0.is_empty() => {
                Err(CliError::data(Kind::Unsupported, at, "the array has no axis: it is a single number"))
            }
            _ if shape.0.len() > 64 => {
                Err(CliError::data(Kind::Corrupt, at, "the shape has more than 64 axes"))
            }
            None => Err(CliError::data(Kind::Corrupt, at, "the shape has more samples than a file can hold")),
            Some(_) => Ok(shape),
        }
    }

    /// A number; Python 2 appended an L.
    fn number(&mut self) -> Result<u64, CliError> {
        let at = self.place();
        let digits = self.text[self.next..].iter().take_while(|b| b.is_ascii_digit()).count();
        let text = &self.text[self.next..self.next + digits];
        if text.is_empty() {
            return self.garbled();
        }
        let number = text.iter().try_fold(0u64, |n, b| n.checked_mul(10)?.checked_add(u64::from(b - b'0')));
        self.next += digits;
        self.take(b'L');
        number.ok_or_else(|| CliError::data(Kind::Corrupt, at, "an axis is longer than can be counted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Header, CliError> {
        Dictionary { text: text.as_bytes(), next: 0, at: 10 }.header()
    }

    fn error(text: &str) -> (&'static str, u64) {
        let error = read(text).unwrap_err();
        (error.kind(), error.offset().unwrap())
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let h = read("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }     \n").unwrap();
        assert_eq!(h, Header { dtype: Dtype::I16, shape: Shape(vec![3, 4]) });
        let h = read("{'descr': '<u4', 'fortran_order': True, 'shape': (3L,), }\n").unwrap();
        assert_eq!(h, Header { dtype: Dtype::U32, shape: Shape(vec![3]) });
        let h = read("{\"shape\":(0,7),\"fortran_order\":False,\"descr\":\"<u2\"}").unwrap();
        assert_eq!(h, Header { dtype: Dtype::U16, shape: Shape(vec![0, 7]) });
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![0], vec![7], vec![2000, 7000], vec![u64::MAX / 16; 1], vec![1; 32]] {
            let header = Header { dtype: Dtype::I32, shape: Shape(shape) };
            let bytes = header.bytes();
            assert_eq!(bytes.len() % 64, 0);
            let text = std::str::from_utf8(&bytes[10..]).unwrap();
            assert_eq!(read(text).unwrap(), header);
        }
    }

    #[test]
    fn anything_else_is_refused_where_it_stands() {
        let of = |descr: &str, order: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")
        };
        assert_eq!(error(&of("'>i2'", "False", "(3,)")), ("unsupported", 20));
        assert_eq!(error(&of("'<f4'", "False", "(3,)")), ("unsupported", 20));
        assert_eq!(error(&of("[('a', '<i2')]", "False", "(3,)")), ("unsupported", 20));
        assert_eq!(error(&of("'<i2'", "True", "(3, 2)")), ("unsupported", 44));
        assert_eq!(error(&of("'<i2'", "False", "()")), ("unsupported", 60));
        assert_eq!(error(&of("'<i2'", "False", "(99999999999999999999,)")), ("corrupt", 61));
        assert_eq!(error(&of("'<i2'", "False", "(4294967296, 4294967296)")), ("corrupt", 60));
        assert_eq!(error(&of("'<i2'", "False", "(-3,)")), ("corrupt", 61));
        assert_eq!(error(&of("'<i2'", "Maybe", "(3,)")), ("corrupt", 44));
        assert_eq!(error(""), ("corrupt", 10));
        assert_eq!(error("{'descr': '<i2'"), ("corrupt", 25));
        assert_eq!(error("{'descr': '<i2'}"), ("corrupt", 26));
        assert_eq!(error("{'descr': '<i2', 'descr': '<i2'}"), ("corrupt", 27));
        assert_eq!(error("{'other': 1}").0, "corrupt");
        assert_eq!(error(&(of("'<i2'", "False", "(3,)") + "x")).0, "corrupt");
    }

    #[test]
    fn no_text_is_too_strange() {
        let text = b"{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4L), }   \n";
        let mut seed = 1u32;
        let mut noise = |below: usize| {
            seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (seed >> 8) as usize % below
        };
        let (mut read, mut refused) = (0, 0);
        for _ in 0..50_000 {
            let mut text = text.to_vec();
            for _ in 0..=noise(3) {
                let at = noise(text.len());
                match noise(3) {
                    0 => text[at] = noise(256) as u8,
                    1 => drop(text.remove(at)),
                    _ => text.insert(at, b"'(),{}:9 L>"[noise(11)]),
                }
            }
            match (Dictionary { text: &text, next: 0, at: 10 }).header() {
                Ok(_) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.offset().unwrap() <= 10 + text.len() as u64, "{error}");
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} and {refused}");
    }
}
