//! Finds the bracket that closes a JSON value, 64 bytes at a time.
//!
//! Brackets within strings do not count. A prefix XOR over the bit mask of the quotes marks the
//! bytes within strings, as in simdjson (Langdale and Lemire 2019). Only backslashes, the brackets
//! outside strings, and bytes that may be damage are visited one by one.

type Result<T> = std::result::Result<T, &'static str>;

pub(crate) const TRUNCATED: &str = "the payload is a truncated JSON object";
pub(crate) const DAMAGED: &str = "the payload is a damaged JSON object";

/// Maximum nesting depth, in words of 64 brackets.
const DEPTH: usize = 16;
/// Maximum nesting depth, in brackets.
#[cfg(test)]
pub(crate) const MAX_DEPTH: usize = 64 * DEPTH;

/// Number of bytes per block; a mask has one bit for each byte.
pub(crate) const BLOCK: usize = 64;

/// The bytes of a block that are in each class of characters, inside strings or not. Bit 0 is the
/// first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CharMasks {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
    /// `{` and `[`.
    pub(crate) opening: u64,
    /// `}` and `]`.
    pub(crate) closing: u64,
    /// `{` and `}`.
    pub(crate) braces: u64,
    /// Control characters: bytes below 0x20.
    pub(crate) control: u64,
}

impl CharMasks {
    /// Classifies one byte after the other. This is the specification of the AVX2 form.
    pub(crate) fn scalar(block: &[u8; BLOCK]) -> CharMasks {
        let mut masks = CharMasks::default();
        for (i, &byte) in block.iter().enumerate() {
            let bit = 1 << i;
            match byte {
                b'"' => masks.quotes |= bit,
                b'\\' => masks.backslashes |= bit,
                b'{' => (masks.opening, masks.braces) = (masks.opening | bit, masks.braces | bit),
                b'}' => (masks.closing, masks.braces) = (masks.closing | bit, masks.braces | bit),
                b'[' => masks.opening |= bit,
                b']' => masks.closing |= bit,
                0..=0x1f => masks.control |= bit,
                _ => {}
            }
        }
        masks
    }
}

/// Returns the end of the value that begins with the bracket at `at`: the offset after its closing
/// bracket.
///
/// # Errors
/// Returns [`TRUNCATED`] if the closing bracket is missing; [`DAMAGED`] for brackets that do not
/// match, a control character within a string, and a backslash or a control character other than
/// white space outside strings; and another message for more than 1,024 open brackets.
#[inline(always)]
pub(crate) fn match_brackets(
    bytes: &[u8],
    mut at: usize,
    masks: impl Fn(&[u8; BLOCK]) -> CharMasks,
) -> Result<usize> {
    let mut strings = Strings::default();
    let mut open = BracketStack::default();
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut last = [b' '; BLOCK];
        let block = match rest.first_chunk() {
            Some(block) => block,
            None if rest.is_empty() => return Err(TRUNCATED),
            None => {
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        let masks = masks(block);
        let within = strings.mask(&masks);
        let mut brackets = (masks.opening | masks.closing) & !within;
        let mut end = BLOCK;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            brackets ^= bit;
            if masks.opening & bit != 0 {
                open.push(masks.braces & bit != 0)?;
            } else {
                open.pop(masks.braces & bit != 0)?;
                if open.depth == 0 {
                    end = bit.trailing_zeros() as usize + 1;
                    break;
                }
            }
        }
        // A backslash outside strings is an error anyway, so its escape does not matter.
        let suspect = masks.control | masks.backslashes & !within;
        if suspect != 0 && is_damaged(&block[..end], suspect, within) {
            return Err(DAMAGED);
        }
        at += end;
        if open.depth == 0 {
            return Ok(at);
        }
    }
}

/// Whether a suspect byte is anything but white space outside strings.
#[cold]
fn is_damaged(block: &[u8], suspect: u64, within: u64) -> bool {
    let is = |mask: u64, i: usize| mask >> i & 1 == 1;
    let space = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r');
    block.iter().enumerate().any(|(i, &byte)| is(suspect, i) && (is(within, i) || !space(byte)))
}

/// String state carried from block to block.
#[derive(Default)]
struct Strings {
    /// All ones if the block begins within a string.
    open: u64,
    /// 1 if the first byte of the block is escaped.
    escaped: u64,
}

impl Strings {
    /// Mask of the bytes within strings, including opening quotes but not closing ones.
    #[inline(always)]
    fn mask(&mut self, masks: &CharMasks) -> u64 {
        let mut quotes = masks.quotes;
        if masks.backslashes | self.escaped != 0 {
            quotes &= !self.escaped_mask(masks.backslashes);
        }
        // Prefix XOR: each bit becomes the parity of the quotes up to it.
        let mut within = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            within ^= within << shift;
        }
        within ^= self.open;
        self.open = ((within.cast_signed()) >> 63).cast_unsigned();
        within
    }

    /// Mask of the escaped bytes.
    fn escaped_mask(&mut self, backslashes: u64) -> u64 {
        let mut escaped = self.escaped;
        let mut left = backslashes & !escaped;
        self.escaped = 0;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            // The next byte is escaped, even if it is a backslash.
            escaped |= bit << 1;
            left &= !(bit | bit << 1);
            self.escaped = bit >> 63;
        }
        escaped
    }
}

/// Stack of open brackets.
#[derive(Default)]
struct BracketStack {
    /// One bit per bracket: whether it is a brace. The word for the innermost brackets is in `top`,
    /// and those for the others in `words[1..]`.
    words: [u64; DEPTH],
    top: u64,
    depth: usize,
}

impl BracketStack {
    #[inline(always)]
    fn push(&mut self, brace: bool) -> Result<()> {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            let word =
                self.words.get_mut(self.depth / 64).ok_or("the payload's JSON is nested too deeply")?;
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

    /// Reference implementation, one byte at a time, without the limit on nesting.
    fn reference(bytes: &[u8]) -> Result<usize> {
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
        Err(TRUNCATED)
    }

    #[test]
    fn random_text_matches_the_reference() {
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
                // Most brackets match, so that nesting gets deep.
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
            let expected = reference(text);
            match expected {
                Ok(_) => whole += 1,
                Err(_) => damaged += 1,
            }
            // Which error comes first may differ.
            assert_eq!(
                match_brackets(text, 0, CharMasks::scalar).ok(),
                expected.ok(),
                "{}",
                text.escape_ascii()
            );
            assert_eq!(kernel::find_value_end(text, 0), match_brackets(text, 0, CharMasks::scalar));
        }
        assert!(whole > 2000 && damaged > 2000, "{whole} {damaged}");
    }

    #[test]
    fn nesting_up_to_the_maximum_is_matched() {
        for depth in [1, 63, 64, 65, 127, 128, 129, MAX_DEPTH - 1, MAX_DEPTH] {
            let mut text: Vec<u8> = (0..depth).map(|i| if i % 3 == 0 { b'{' } else { b'[' }).collect();
            let closing: Vec<u8> = text.iter().rev().map(|bracket| bracket + 2).collect();
            text.extend(closing);
            assert_eq!(kernel::find_value_end(&text, 0), Ok(2 * depth));
            let last = text.len() - 1;
            text[last] = if text[last] == b'}' { b']' } else { b'}' };
            assert_eq!(kernel::find_value_end(&text, 0), Err(DAMAGED));
        }
        assert!(kernel::find_value_end(&[b'['; MAX_DEPTH + 1], 0).is_err());
        assert_eq!(kernel::find_value_end(&[b'['; MAX_DEPTH], 0), Err(TRUNCATED));
    }

    #[test]
    fn escapes_continue_across_blocks() {
        for before in 0..140 {
            for backslashes in 0..70 {
                let text = [&b"[\""[..], &vec![b'a'; before], &vec![b'\\'; backslashes], b"\"]\"]"].concat();
                let escaped = backslashes % 2 == 1;
                let end = if escaped { text.len() } else { text.len() - 2 };
                assert_eq!(kernel::find_value_end(&text, 0), Ok(end), "{before} {backslashes}");
            }
        }
    }
}
