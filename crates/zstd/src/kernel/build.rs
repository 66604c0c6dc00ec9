//! Tables laid out, compiled per tier: the bodies are safe and have no form of their own.

use super::isa::{Isa, Kernel, dispatch};
use crate::entropy::fse::{Cell, Counts};
use crate::entropy::huffman::{Tree, Weights};
use crate::kernel_set::KernelSet;

struct Fse<'a, const N: usize> {
    counts: &'a Counts<N>,
    extra_bits: &'a [u8],
    cells: &'a mut [Cell],
}

impl<const N: usize> Kernel for Fse<'_, N> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        self.counts.build(self.extra_bits, self.cells);
    }
}

/// As [`Counts::build`].
pub(crate) fn fse<const N: usize>(
    kernels: KernelSet,
    counts: &Counts<N>,
    extra_bits: &[u8],
    cells: &mut [Cell],
) {
    match kernels {
        KernelSet::Reference => counts.build_plainly(extra_bits, cells),
        KernelSet::Tier(tier) => dispatch(tier, Fse { counts, extra_bits, cells }),
    }
}

struct Huffman<'a> {
    weights: &'a Weights,
    tree: &'a mut Tree,
    cells: &'a mut [u16],
}

impl Kernel for Huffman<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        self.weights.build(self.tree, self.cells);
    }
}

/// As [`Weights::build`].
pub(crate) fn huffman(kernels: KernelSet, weights: &Weights, tree: &mut Tree, cells: &mut [u16]) {
    match kernels {
        KernelSet::Reference => weights.build(tree, cells),
        KernelSet::Tier(tier) => dispatch(tier, Huffman { weights, tree, cells }),
    }
}

struct Laid<'a> {
    tree: &'a Tree,
    cells: &'a mut [u16],
}

impl Kernel for Laid<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        self.tree.lay_out(self.cells);
    }
}

/// As [`Tree::lay_out`].
pub(crate) fn tree(kernels: KernelSet, tree: &Tree, cells: &mut [u16]) {
    match kernels {
        KernelSet::Reference => tree.lay_out(cells),
        KernelSet::Tier(tier) => dispatch(tier, Laid { tree, cells }),
    }
}

struct Codes<'a> {
    tree: &'a [u8; Tree::LEN],
    cells: &'a mut [u16],
}

impl Kernel for Codes<'_> {
    type Output = Option<u32>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<u32> {
        let tree = Tree::read(self.tree)?;
        tree.lay_out(self.cells);
        Some(tree.log())
    }
}

/// Lays out the table of a tree that was written; returns its logarithm, or none if it is no tree.
pub(crate) fn codes(kernels: KernelSet, tree: &[u8; Tree::LEN], cells: &mut [u16]) -> Option<u32> {
    let all = Codes { tree, cells };
    match kernels {
        // SAFETY: every CPU supports the scalar tier.
        KernelSet::Reference => unsafe { all.run::<super::isa::Scalar>() },
        KernelSet::Tier(tier) => dispatch(tier, all),
    }
}
