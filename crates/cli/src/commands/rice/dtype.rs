//! The types of samples.

use std::fmt;

use bytemuck::Pod;
use clap::ValueEnum;
use linerate_rice::v2::ElementType;

/// The type of a sample. Files hold it little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dtype {
    #[value(alias = "int16", alias = "<i2")]
    I16,
    #[value(alias = "uint16", alias = "<u2")]
    U16,
    #[value(alias = "int32", alias = "<i4")]
    I32,
    #[value(alias = "uint32", alias = "<u4")]
    U32,
}

impl Dtype {
    /// What NumPy calls each.
    const DESCRIPTIONS: [(&'static str, Dtype); 4] =
        [("<i2", Dtype::I16), ("<u2", Dtype::U16), ("<i4", Dtype::I32), ("<u4", Dtype::U32)];

    pub(crate) fn from_npy(description: &str) -> Option<Dtype> {
        Self::DESCRIPTIONS.iter().find(|row| row.0 == description).map(|row| row.1)
    }

    pub(crate) fn npy(self) -> &'static str {
        Self::DESCRIPTIONS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

    /// The word on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Dtype::I16 => "i16",
            Dtype::U16 => "u16",
            Dtype::I32 => "i32",
            Dtype::U32 => "u32",
        }
    }

    /// Bytes of a sample.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Dtype::I16 | Dtype::U16 => 2,
            Dtype::I32 | Dtype::U32 => 4,
        }
    }
}

impl From<ElementType> for Dtype {
    fn from(element: ElementType) -> Dtype {
        match element {
            ElementType::I16 => Dtype::I16,
            ElementType::U16 => Dtype::U16,
            ElementType::I32 => Dtype::I32,
            ElementType::U32 => Dtype::U32,
        }
    }
}

/// An expression for samples of a type that is known when the program runs.
macro_rules! with_type {
    ($dtype:expr, $word:ident => $value:expr) => {
        match $dtype {
            $crate::commands::rice::dtype::Dtype::I16 => {
                type $word = i16;
                $value
            }
            $crate::commands::rice::dtype::Dtype::U16 => {
                type $word = u16;
                $value
            }
            $crate::commands::rice::dtype::Dtype::I32 => {
                type $word = i32;
                $value
            }
            $crate::commands::rice::dtype::Dtype::U32 => {
                type $word = u32;
                $value
            }
        }
    };
}
pub(crate) use with_type;

/// A sample in memory.
pub(crate) trait Word: Pod + Default + PartialEq + fmt::Debug {
    /// The sample as files have it, little-endian; and back, since that is the same exchange of
    /// bytes or none.
    fn little_endian(self) -> Self;
}

macro_rules! words {
    ($($word:ty),*) => { $(
        impl Word for $word {
            fn little_endian(self) -> Self {
                self.to_le()
            }
        }
    )* };
}
words!(i16, u16, i32, u32);
