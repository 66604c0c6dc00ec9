//! Reads and writes headers of `.npy` files, versions 1.0 to 3.0 (NumPy Enhancement Proposal 1).
//! Reading is strict; a header is written as NumPy writes it.

use linerate_core::{Error, Kind, Result};

use super::Input;
use super::partial_shape::MAX_SAMPLES;
use crate::v2::{ElementType, Shape};

pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header text that is read, in bytes; a longer one is an error. The header text of a plain
/// array is far shorter.
const MAX_LEN: u32 = 64 << 10;

/// In files that are written, samples begin at a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// The header of a `.npy` file, whose samples follow it.
///
/// ```
/// use linerate_rice::file::NpyHeader;
/// use linerate_rice::v2::{ElementType, Shape};
/// let header = NpyHeader { element: ElementType::U16, shape: Shape::new(&[2000, 7000])? };
/// assert!(header.to_bytes().starts_with(b"\x93NUMPY\x01\x00"));
/// # Ok::<(), linerate_rice::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of the samples, which are little-endian.
    pub element: ElementType,
    /// The shape of the array, which is in C order.
    pub shape: Shape,
}

impl NpyHeader {
    /// Reads a header, magic first, and leaves `input` at the first sample.
    ///
    /// # Errors
    /// * [`Kind::Truncated`] if the input ends within the header.
    /// * [`Kind::Corrupt`] if it is not a `.npy` file, or if its header is longer than 64 KiB,
    ///   cannot be understood or states 2^61 samples or more.
    /// * [`Kind::Unsupported`] for another version or type, big-endian samples, Fortran order if
    ///   more than one axis differs from 1, no axis, or more than 64 axes.
    /// * [`Kind::Read`] if reading fails.
    pub fn read(input: &mut Input) -> Result<NpyHeader> {
        const CUT: &str = "the input ends inside the .npy header";
        let mut start = [0; 8];
        input.read_exact(&mut start, CUT)?;
        if start[..6] != MAGIC[..] {
            return Err(Error::new(Kind::Corrupt, 0, "this is not an .npy file"));
        }
        let len = match start[6..] {
            [1, 0] => {
                let mut len = [0; 2];
                input.read_exact(&mut len, CUT)?;
                u32::from(u16::from_le_bytes(len))
            }
            [2 | 3, 0] => input.word(CUT)?,
            _ => {
                return Err(Error::new(
                    Kind::Unsupported,
                    6,
                    "an .npy file of a version other than 1.0 to 3.0",
                ));
            }
        };
        if len > MAX_LEN {
            return Err(Error::new(Kind::Corrupt, 8, "the .npy header is longer than 64 KiB"));
        }
        let offset = input.position();
        let mut text = vec![0; len as usize];
        input.read_exact(&mut text, CUT)?;
        Dictionary { text: &text, next: 0, offset }.header()
    }

    /// The header as bytes, up to the first sample.
    pub fn to_bytes(&self) -> Vec<u8> {
        let NpyHeader { element, shape } = self;
        let descr = match element {
            ElementType::I16 => "<i2",
            ElementType::U16 => "<u2",
            ElementType::I32 => "<i4",
            ElementType::U32 => "<u4",
        };
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        // Magic, version and length precede the text, and a line end follows it. 64 axes of 20
        // digits stay far below 64 KiB, the limit of version 1.0.
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

/// Parser for the Python dictionary in a header.
struct Dictionary<'a> {
    text: &'a [u8],
    /// Index of the next byte in `text`.
    next: usize,
    /// Offset of the text in the input.
    offset: u64,
}

impl Dictionary<'_> {
    fn header(mut self) -> Result<NpyHeader> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key_at = self.skip_blanks();
            let key = self.string()?;
            self.expect(b':')?;
            let known = match key.as_str() {
                "descr" => element.replace(self.element()?).is_none(),
                "fortran_order" => fortran.replace(self.boolean()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => false,
            };
            if !known {
                return Err(Error::new(
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
        let end = self.skip_blanks();
        if self.next != self.text.len() {
            return Err(Error::new(Kind::Corrupt, end, "the .npy header goes on after its dictionary"));
        }
        match (element, fortran, shape) {
            (Some(element), Some((fortran, fortran_at)), Some(shape)) => {
                // With at most one axis other than 1 both orders are the same.
                if fortran && shape.axes().iter().filter(|&&axis| axis != 1).count() > 1 {
                    let what = "the array is in Fortran order; numpy.ascontiguousarray makes one in C order";
                    return Err(Error::new(Kind::Unsupported, fortran_at, what));
                }
                Ok(NpyHeader { element, shape })
            }
            _ => Err(Error::new(Kind::Corrupt, end, "the .npy header lacks descr, fortran_order or shape")),
        }
    }

    /// Skips blanks. Returns the offset of the byte after them.
    fn skip_blanks(&mut self) -> u64 {
        while self.text.get(self.next).is_some_and(u8::is_ascii_whitespace) {
            self.next += 1;
        }
        self.offset + self.next as u64
    }

    fn garbled<T>(&mut self) -> Result<T> {
        Err(Error::new(Kind::Corrupt, self.skip_blanks(), "the .npy header cannot be understood"))
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.text.get(self.next) == Some(&byte);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { self.garbled() }
    }

    fn string(&mut self) -> Result<String> {
        self.skip_blanks();
        let Some(&quote @ (b'\'' | b'"')) = self.text.get(self.next) else { return self.garbled() };
        let rest = &self.text[self.next + 1..];
        let Some(len) = rest.iter().position(|&b| b == quote) else { return self.garbled() };
        let inside = String::from_utf8_lossy(&rest[..len]).into_owned();
        self.next += len + 2;
        Ok(inside)
    }

    fn element(&mut self) -> Result<ElementType> {
        let at = self.skip_blanks();
        let unsupported = |message| Err(Error::new(Kind::Unsupported, at, message));
        if self.text.get(self.next) == Some(&b'[') {
            return unsupported("records are not coded, only arrays of one type");
        }
        match self.string()?.as_str() {
            "<i2" => Ok(ElementType::I16),
            "<u2" => Ok(ElementType::U16),
            "<i4" => Ok(ElementType::I32),
            "<u4" => Ok(ElementType::U32),
            ">i2" | ">u2" | ">i4" | ">u4" => {
                unsupported("the samples are big-endian; numpy's astype makes them little-endian: '<i2', ...")
            }
            _ => unsupported(
                "the samples are not of type '<i2', '<u2', '<i4' or '<u4'; numpy's astype converts them",
            ),
        }
    }

    fn boolean(&mut self) -> Result<(bool, u64)> {
        let at = self.skip_blanks();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.next..].starts_with(word.as_bytes()) {
                self.next += word.len();
                return Ok((value, at));
            }
        }
        self.garbled()
    }

    fn shape(&mut self) -> Result<Shape> {
        let at = self.skip_blanks();
        self.expect(b'(')?;
        let mut axes = Vec::new();
        while !self.take(b')') {
            axes.push(self.number()?);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        if axes.is_empty() {
            return Err(Error::new(Kind::Unsupported, at, "the array has no axis: it is a single number"));
        }
        let shape = Shape::new(&axes).map_err(|e| e.with_offset(at))?;
        match shape.samples() {
            Some(..=MAX_SAMPLES) => Ok(shape),
            _ => Err(Error::new(Kind::Corrupt, at, "the shape has more samples than a file can hold")),
        }
    }

    /// Parses a number. Python 2 appended an L.
    fn number(&mut self) -> Result<u64> {
        let at = self.skip_blanks();
        let digits = self.text[self.next..].iter().take_while(|b| b.is_ascii_digit()).count();
        let text = &self.text[self.next..self.next + digits];
        if text.is_empty() {
            return self.garbled();
        }
        let number = text.iter().try_fold(0u64, |n, b| n.checked_mul(10)?.checked_add(u64::from(b - b'0')));
        self.next += digits;
        self.take(b'L');
        number.ok_or_else(|| Error::new(Kind::Corrupt, at, "an axis is longer than can be counted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NpyHeader> {
        Dictionary { text: text.as_bytes(), next: 0, offset: 10 }.header()
    }

    fn error(text: &str) -> (&'static str, u64) {
        let error = read(text).unwrap_err();
        (error.kind.name(), error.offset)
    }

    fn header(element: ElementType, axes: &[u64]) -> NpyHeader {
        NpyHeader { element, shape: Shape::new(axes).unwrap() }
    }

    #[test]
    fn headers_of_python_2_and_3_are_read() {
        let h = read("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }     \n").unwrap();
        assert_eq!(h, header(ElementType::I16, &[3, 4]));
        let h = read("{'descr': '<u4', 'fortran_order': True, 'shape': (3L,), }\n").unwrap();
        assert_eq!(h, header(ElementType::U32, &[3]));
        let h = read("{\"shape\":(0,7),\"fortran_order\":False,\"descr\":\"<u2\"}").unwrap();
        assert_eq!(h, header(ElementType::U16, &[0, 7]));
    }

    #[test]
    fn written_header_is_a_multiple_of_64_bytes_and_read_back() {
        for shape in [vec![0], vec![7], vec![2000, 7000], vec![u64::MAX / 16; 1], vec![1; 32]] {
            let header = header(ElementType::I32, &shape);
            let bytes = header.to_bytes();
            assert_eq!(bytes.len() % 64, 0);
            let text = std::str::from_utf8(&bytes[10..]).unwrap();
            assert_eq!(read(text).unwrap(), header);
        }
    }

    #[test]
    fn other_headers_are_errors_with_the_offset_of_the_fault() {
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
    fn random_edits_of_a_header_give_headers_or_errors_inside_it() {
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
            match (Dictionary { text: &text, next: 0, offset: 10 }).header() {
                Ok(_) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.offset <= 10 + text.len() as u64, "{error}");
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} and {refused}");
    }
}
