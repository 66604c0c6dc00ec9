//! Builds tables, compiled per tier. The bodies differ only in the operations of [`Isa`] that they
//! call.

use linerate_core::Result;

use super::dispatch::{Kernel, dispatch};
use super::isa::Isa;
use crate::entropy::fse::{Cell, NormalizedCounts};
use crate::entropy::huffman::{self, CanonicalTree, Weights};
use crate::kernel_set::KernelSet;

struct Fse<'a, const N: usize> {
    counts: &'a NormalizedCounts<N>,
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

/// Runs [`NormalizedCounts::build`], or the reference: for [`KernelSet::Reference`], and with the
/// feature `small`, because it has a third of the code.
pub(crate) fn fse<const N: usize>(
    kernels: KernelSet,
    counts: &NormalizedCounts<N>,
    extra_bits: &[u8],
    cells: &mut [Cell],
) {
    match kernels.compiled() {
        KernelSet::Tier(tier) if !cfg!(feature = "small") => {
            dispatch(tier, Fse { counts, extra_bits, cells })
        }
        _ => counts.build_reference(extra_bits, cells),
    }
}

struct ReadWeights<'a> {
    src: &'a [u8],
    weights: &'a mut Weights,
}

impl Kernel for ReadWeights<'_> {
    type Output = Result<usize>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<usize> {
        // SAFETY: the caller vouches for the tier.
        self.weights.read(self.src, |weights| unsafe { I::count(weights) })
    }
}

/// Runs [`Weights::read`].
pub(crate) fn weights(kernels: KernelSet, src: &[u8], weights: &mut Weights) -> Result<usize> {
    match kernels.compiled() {
        KernelSet::Reference => weights.read(src, huffman::count),
        KernelSet::Tier(tier) => dispatch(tier, ReadWeights { src, weights }),
    }
}

struct Huffman<'a> {
    weights: &'a Weights,
    tree: &'a mut CanonicalTree,
    cells: &'a mut [u16],
}

impl Kernel for Huffman<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        // SAFETY: the caller vouches for the tier.
        self.weights.build(self.tree, self.cells, |bytes| unsafe { I::non_zero(bytes) });
    }
}

/// Runs [`Weights::build`].
pub(crate) fn huffman(kernels: KernelSet, weights: &Weights, tree: &mut CanonicalTree, cells: &mut [u16]) {
    match kernels.compiled() {
        KernelSet::Reference => weights.build(tree, cells, huffman::non_zero),
        KernelSet::Tier(tier) => dispatch(tier, Huffman { weights, tree, cells }),
    }
}

struct Canonical<'a>(&'a Weights);

impl Kernel for Canonical<'_> {
    type Output = CanonicalTree;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> CanonicalTree {
        // SAFETY: the caller vouches for the tier.
        self.0.tree(|bytes| unsafe { I::non_zero(bytes) })
    }
}

/// Runs [`Weights::tree`].
pub(crate) fn canonical(kernels: KernelSet, weights: &Weights) -> CanonicalTree {
    match kernels.compiled() {
        KernelSet::Reference => weights.tree(huffman::non_zero),
        KernelSet::Tier(tier) => dispatch(tier, Canonical(weights)),
    }
}

struct TreeTable<'a> {
    tree: &'a CanonicalTree,
    cells: &'a mut [u16],
}

impl Kernel for TreeTable<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        self.tree.build_table(self.cells);
    }
}

/// Runs [`CanonicalTree::build_table`].
pub(crate) fn tree(kernels: KernelSet, tree: &CanonicalTree, cells: &mut [u16]) {
    match kernels.compiled() {
        KernelSet::Reference => tree.build_table(cells),
        KernelSet::Tier(tier) => dispatch(tier, TreeTable { tree, cells }),
    }
}

struct StoredTree<'a> {
    tree: &'a [u8; CanonicalTree::LEN],
    cells: &'a mut [u16],
}

impl Kernel for StoredTree<'_> {
    type Output = Option<u32>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<u32> {
        let tree = CanonicalTree::read(self.tree)?;
        tree.build_table(self.cells);
        Some(tree.log())
    }
}

/// Builds the table of a serialized tree. Returns its logarithm, or `None` for an invalid tree.
pub(crate) fn codes(kernels: KernelSet, tree: &[u8; CanonicalTree::LEN], cells: &mut [u16]) -> Option<u32> {
    let all = StoredTree { tree, cells };
    match kernels.compiled() {
        // SAFETY: every CPU supports the scalar tier.
        KernelSet::Reference => unsafe { all.run::<super::scalar::Scalar>() },
        KernelSet::Tier(tier) => dispatch(tier, all),
    }
}
