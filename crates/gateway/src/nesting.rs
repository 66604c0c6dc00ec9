//! From an opening bracket of JSON to the one that closes it, 64 bytes at a time.
//!
//! What a byte is depends on the strings around it: the quotes of 64 bytes as bits, each with all that
//! follow it turned over, tell which bytes are within one. So only the brackets that are none are looked at
//! one by one.

type Result<T> = std::result::Result<T, &'static str>;

pub(crate) const CUT_OFF: &str = "the payload is a JSON object that is cut off";
pub(crate) const DAMAGED: &str = "the payload is a damaged JSON object";

/// Words of 64 brackets that may be open at once.
const DEPTH: usize = 16;
/// Brackets that may be open at once.
#[cfg(test)]
pub(crate) const MAX_DEPTH: usize = 64 * DEPTH;

/// Bytes that are looked at together, a bit for each in a mask.
pub(crate) const BLOCK: usize = 64;

/// Which bytes of a block are what, whether within a string or not; the lowest bit is the first byte's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
    /// `{` and `[`.
    pub(crate) opening: u64,
    /// `}` and `]`.
    pub(crate) closing: u64,
    /// Where there is a brace or a bracket, whether it is a brace.
    pub(crate) braces: u64,
    /// Bytes below the space.
    pub(crate) control: u64,
}

impl Marks {
    /// One byte after the other: what the kernels must match.
    pub(crate) fn plainly(block: &[u8; BLOCK]) -> Marks {
        let mut marks = Marks::default();
        for (i, &byte) in block.iter().enumerate() {
            let bit = 1 << i;
            match byte {
                b'"' => marks.quotes |= bit,
                b'\\' => marks.backslashes |= bit,
                b'{' => (marks.opening, marks.braces) = (marks.opening | bit, marks.braces | bit),
                b'}' => (marks.closing, marks.braces) = (marks.closing | bit, marks.braces | bit),
                b'[' => marks.opening |= bit,
                b']' => marks.closing |= bit,
                0..=0x1f => marks.control |= bit,
                _ => {}
            }
        }
        marks
    }
}

/// Returns where the value ends that begins with the bracket at `at`.
#[inline(always)]
pub(crate) fn walk(bytes: &[u8], mut at: usize, marks: impl Fn(&[u8; BLOCK]) -> Marks) -> Result<usize> {
    let mut strings = Strings::default();
    let mut open = Open::default();
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut last = [b' '; BLOCK];
        let block = match rest.first_chunk() {
            Some(block) => block,
            None if rest.is_empty() => return Err(CUT_OFF),
            None => {
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        let marks = marks(block);
        let within = strings.within(&marks);
        let mut brackets = (marks.opening | marks.closing) & !within;
        let mut end = BLOCK;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            brackets ^= bit;
            if marks.opening & bit != 0 {
                open.push(marks.braces & bit != 0)?;
            } else {
                open.pop(marks.braces & bit != 0)?;
                if open.depth == 0 {
                    end = bit.trailing_zeros() as usize + 1;
                    break;
                }
            }
        }
        // A backslash outside of strings is an error, so what it would escape does not matter.
        let odd = marks.control | marks.backslashes & !within;
        if odd != 0 && is_damaged(&block[..end], odd, within) {
            return Err(DAMAGED);
        }
        at += end;
        if open.depth == 0 {
            return Ok(at);
        }
    }
}

/// Whether one of the odd bytes is something else than a space between strings.
#[cold]
fn is_damaged(block: &[u8], odd: u64, within: u64) -> bool {
    let is = |mask: u64, i: usize| mask >> i & 1 == 1;
    let space = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r');
    block.iter().enumerate().any(|(i, &byte)| is(odd, i) && (is(within, i) || !space(byte)))
}

/// What the bytes before a block say of it.
#[derive(Default)]
struct Strings {
    /// All ones if it begins within a string.
    open: u64,
    /// 1 if its first byte is escaped.
    escaped: u64,
}

impl Strings {
    /// Which bytes of the next block are within a string, counting its first quote and not its last.
    #[inline(always)]
    fn within(&mut self, marks: &Marks) -> u64 {
        let mut quotes = marks.quotes;
        if marks.backslashes | self.escaped != 0 {
            quotes &= !self.escapes(marks.backslashes);
        }
        // Each bit becomes the sum, without carries, of all up to it.
        let mut within = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            within ^= within << shift;
        }
        within ^= self.open;
        self.open = ((within.cast_signed()) >> 63).cast_unsigned();
        within
    }

    /// Which bytes are escaped.
    fn escapes(&mut self, backslashes: u64) -> u64 {
        let mut escaped = self.escaped;
        let mut left = backslashes & !escaped;
        self.escaped = 0;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            // The byte behind it, be it a backslash or not.
            escaped |= bit << 1;
            left &= !(bit | bit << 1);
            self.escaped = bit >> 63;
        }
        escaped
    }
}

/// The brackets that are open.
#[derive(Default)]
struct Open {
    /// A bit for each: whether it is a brace. The word of the innermost is `top`.
    words: [u64; DEPTH],
    top: u64,
    depth: usize,
}

impl Open {
    #[inline(always)]
    fn push(&mut self, brace: bool) -> Result<()> {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            let word = self.words.get_mut(self.depth / 64).ok_or("the payload's JSON is nested too deep")?;
            *word = self.top;
        }
        self.top = self.top << 1 | u64::from(brace);
        self.depth += 1;
        Ok(())
    }

    #[inline(always)]
    fn pop(&mut self, brace: bool) -> Result<()> {
        if (self.top & 1 == 1) != brace {
            return Err(DAMAGED);
        }
        self.top >>= 1;
        self.depth -= 1;
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.top = self.words[self.depth / 64];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;

    struct Noise(u64);

    impl Noise {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }
    }

    /// The same by a walk over single bytes.
    fn simple(bytes: &[u8]) -> Result<usize> {
        let (mut open, mut within, mut escaped) = (Vec::new(), false, false);
        for (i, &byte) in bytes.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if !within => return Err(DAMAGED),
                b'\\' => escaped = true,
                b'"' => within = !within,
                b'{' | b'[' if !within => open.push(byte == b'{'),
                b'}' | b']' if !within => {
                    if open.pop() != Some(byte == b'}') {
                        return Err(DAMAGED);
                    }
                    if open.is_empty() {
                        return Ok(i + 1);
                    }
                }
                _ => {}
            }
            let space = matches!(byte, b'\t' | b'\n' | b'\r') && !within;
            if byte < b' ' && !space {
                return Err(DAMAGED);
            }
        }
        Err(CUT_OFF)
    }

    #[test]
    fn blocks_say_what_single_bytes_do() {
        let mut noise = Noise(5);
        let (mut whole, mut damaged) = (0, 0);
        for round in 0..20_000 {
            let symbols: &[u8] = match round % 4 {
                0 => b"\"\\{}[]abcdefgh ",
                3 => b"\"\"{}[]abcdefgh ,:",
                1 => b"\"\\{}[]  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                _ => b"\"\"{}[]\t\n\xc3\xa9",
            };
            let len = noise.below(300);
            let mut text = vec![if noise.below(2) == 0 { b'{' } else { b'[' }];
            let mut open = vec![text[0]];
            for _ in 0..len {
                let byte = symbols[noise.below(symbols.len())];
                // Mostly what matches, so that it goes deep.
                let byte = match (byte, open.last()) {
                    (b'}' | b']', Some(b'{')) if noise.below(50) > 0 => b'}',
                    (b'}' | b']', Some(b'[')) if noise.below(50) > 0 => b']',
                    _ if noise.below(400) == 0 => 1,
                    _ => byte,
                };
                match byte {
                    b'{' | b'[' => open.push(byte),
                    b'}' | b']' if open.len() > 1 => drop(open.pop()),
                    _ => {}
                }
                text.push(byte);
            }
            while let Some(bracket) = open.pop() {
                text.push(bracket + 2);
            }
            let text = &text[..text.len() - usize::from(noise.below(9) == 0)];
            let expected = simple(text);
            match expected {
                Ok(_) => whole += 1,
                Err(_) => damaged += 1,
            }
            // Which error comes first may differ.
            assert_eq!(walk(text, 0, Marks::plainly).ok(), expected.ok(), "{}", text.escape_ascii());
            assert_eq!(kernel::nested(text, 0), walk(text, 0, Marks::plainly));
        }
        assert!(whole > 2000 && damaged > 2000, "{whole} {damaged}");
    }

    #[test]
    fn deep_nesting_is_followed_and_has_an_end() {
        for depth in [1, 63, 64, 65, 127, 128, 129, MAX_DEPTH - 1, MAX_DEPTH] {
            let mut text: Vec<u8> = (0..depth).map(|i| if i % 3 == 0 { b'{' } else { b'[' }).collect();
            let closing: Vec<u8> = text.iter().rev().map(|bracket| bracket + 2).collect();
            text.extend(closing);
            assert_eq!(kernel::nested(&text, 0), Ok(2 * depth));
            let last = text.len() - 1;
            text[last] = if text[last] == b'}' { b']' } else { b'}' };
            assert_eq!(kernel::nested(&text, 0), Err(DAMAGED));
        }
        assert!(kernel::nested(&[b'['; MAX_DEPTH + 1], 0).is_err());
        assert_eq!(kernel::nested(&[b'['; MAX_DEPTH], 0), Err(CUT_OFF));
    }

    #[test]
    fn escapes_reach_over_blocks() {
        for before in 0..140 {
            for backslashes in 0..70 {
                let text = [&b"[\""[..], &vec![b'a'; before], &vec![b'\\'; backslashes], b"\"]\"]"].concat();
                let escaped = backslashes % 2 == 1;
                let end = if escaped { text.len() } else { text.len() - 2 };
                assert_eq!(kernel::nested(&text, 0), Ok(end), "{before} {backslashes}");
            }
        }
    }
}
