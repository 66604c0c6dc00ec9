//! Describes a pipe: the drive or network that carries the compressed data, and the direction.

use std::fmt;

/// A drive or network.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipe {
    /// The name, such as `nvme-4.0` or [`DRIVE`], or the rate as the user wrote it.
    pub name: String,
    /// Compressed bytes per second.
    pub rate: f64,
    /// Whether data is read, written or both.
    pub direction: Direction,
}

/// The direction in which a pipe is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Data is read: decoding has to keep up with the pipe.
    #[default]
    Read,
    /// Data is written: encoding has to keep up with the pipe.
    Write,
    /// Data is read and written, at different times: decoding and encoding have to keep up.
    Both,
}

/// Name of the pipe that is the drive of the data. Its rate has to be measured, so [`Pipe::parse`]
/// does not know the name.
pub const DRIVE: &str = "drive";

/// Names of usual pipes, with the bytes per second that a program gets through each.
pub(crate) const PRESETS: &[(&str, f64)] = &[
    // Serial ATA at 6 Gbit/s carries 600 MB/s in its 8b/10b code. About 550 MB/s remain for data,
    // the number on data sheets of drives.
    ("sata", 550e6),
    // Data sheets of NVMe drives state sequential reads of about 3.5, 7 and 14 GB/s. Four lanes of
    // PCIe 3.0, 4.0 or 5.0 carry 3.94, 7.88 or 15.75 GB/s in the 128b/130b code, less the headers
    // of packets of 128 to 256 bytes.
    ("nvme-3.0", 3.5e9),
    ("nvme-4.0", 7e9),
    ("nvme-5.0", 14e9),
    // TCP over IPv4 with timestamps carries 1,448 bytes of payload in each 1,538 bytes on the wire
    // (preamble, frame, gap).
    ("1GbE", 1e9 / 8.0 * ETHERNET_PAYLOAD),
    ("10GbE", 10e9 / 8.0 * ETHERNET_PAYLOAD),
    ("25GbE", 25e9 / 8.0 * ETHERNET_PAYLOAD),
    ("100GbE", 100e9 / 8.0 * ETHERNET_PAYLOAD),
];

/// Share of TCP payload in the bytes on the wire.
const ETHERNET_PAYLOAD: f64 = 1448.0 / 1538.0;

/// Units of a rate, with their bytes per second. Units such as `Mb` are left out, since `b` may
/// mean bits or bytes.
const UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
    ("bit", 1.0 / 8.0),
    ("kbit", 1e3 / 8.0),
    ("Mbit", 1e6 / 8.0),
    ("Gbit", 1e9 / 8.0),
    ("Tbit", 1e12 / 8.0),
];

impl Pipe {
    /// Parses the name of a usual drive or network (in any case), or a rate with or without `/s`:
    /// `nvme-4.0`, `2.5GB/s`, `800 Mbit/s`. The direction is [`Direction::Read`].
    ///
    /// # Errors
    /// Returns [`ParseError`] for any other text, and for rates that are not above zero. The
    /// message lists the names and units.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        let preset = PRESETS.iter().find(|preset| preset.0.eq_ignore_ascii_case(text));
        let (name, rate) = match preset {
            Some((name, rate)) => (*name, Some(*rate)),
            None => (text, rate(text)),
        };
        match rate {
            Some(rate) => Ok(Self { name: name.into(), rate, direction: Direction::default() }),
            None => Err(ParseError { text: text.into() }),
        }
    }
}

/// Parses a rate such as `2.5GB/s`, and returns it in bytes per second. `None` for other text and
/// for a rate that is not above zero.
fn rate(text: &str) -> Option<f64> {
    let text = text.strip_suffix("/s").unwrap_or(text);
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|row| row.0 == unit.trim_start())?;
    let rate = number.parse::<f64>().ok()? * unit.1;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// The error for a text that is neither the name of a usual pipe nor a rate above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.0).collect();
        let units: Vec<&str> = UNITS.iter().map(|unit| unit.0).collect();
        write!(
            f,
            "`{}` is no pipe; give a name ({}) or a rate above zero, such as 2.5GB/s, 100MB/s or \
             800Mbit/s (units: {})",
            self.text,
            names.join(", "),
            units.join(", ")
        )
    }
}

impl std::error::Error for ParseError {}

impl Direction {
    /// Returns the direction's name: `read`, `write` or `both`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Both => "both",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rates_are_bytes_per_second() {
        let rate = |text| Pipe::parse(text).expect(text).rate;
        assert_eq!(rate("sata"), 550e6);
        assert_eq!(rate("NVME-4.0"), 7e9);
        assert_eq!(rate("2.5GB/s"), 2.5e9);
        assert_eq!(rate("100 MB/s"), 100e6);
        assert_eq!(rate("100MB"), 100e6);
        assert_eq!(rate("1MiB/s"), 1048576.0);
        assert_eq!(rate("800Mbit/s"), 100e6);
        assert_eq!(rate("1GbE").round(), 117_685_306.0);
        assert_eq!(Pipe::parse("nvme-4.0").unwrap().name, "nvme-4.0");
        assert_eq!(Pipe::parse(" 2GB/s ").unwrap().name, "2GB/s");
    }

    #[test]
    fn anything_else_is_an_error_that_lists_what_is_accepted() {
        for text in
            ["", "fast", "12", "0MB/s", "-1MB/s", "1.2.3MB/s", "MB/s", "8Mb/s", "8mb/s", "nanMB/s", "."]
        {
            let message = Pipe::parse(text).expect_err(text).to_string();
            assert!(message.starts_with(&format!("`{text}` is no pipe")), "{message}");
            assert!(PRESETS.iter().all(|preset| message.contains(preset.0)), "{message}");
            assert!(UNITS.iter().all(|unit| message.contains(unit.0)), "{message}");
        }
    }
}
