//! Appends tokens to the list of a block without branches, and counts their symbols.

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use super::matcher::Buckets;
use super::search::{Match, Probe};
use crate::coding::token::{NONE, Tokens, distance_symbol};

/// Appends tokens to a list and counts their symbols.
pub(super) struct TokenWriter<'a> {
    /// References are made only to fields of the tokens, never to the whole, so `next` stays valid.
    tokens: *mut Tokens,
    list: *mut u32,
    next: *mut u32,
    /// 1 if `next` holds a single literal that another may join, else 0.
    pending: usize,
    /// The literal in `next`.
    literal: u32,
    lifetime: PhantomData<&'a mut Tokens>,
}

impl<'a> TokenWriter<'a> {
    pub(super) fn new(tokens: &'a mut Tokens) -> Self {
        let len = tokens.len;
        let tokens = &raw mut *tokens;
        // SAFETY: the tokens are borrowed as long as the writer lives.
        let list = unsafe { &raw mut (*tokens).list }.cast::<u32>();
        let next = list.wrapping_add(len);
        TokenWriter { tokens, list, next, pending: 0, literal: 0, lifetime: PhantomData }
    }

    /// Appends a literal, and joins it to the token before if that holds a single literal.
    /// Branchless, because the ends of literal runs are unpredictable.
    ///
    /// # Safety
    /// The list must have free space.
    #[inline(always)]
    pub(super) unsafe fn push_literal(&mut self, literal: u8) {
        let literal = u32::from(literal);
        let joins = self.pending != 0;
        let pair = self.literal | (32 + literal) << 9;
        // SAFETY: as the caller vouches.
        unsafe {
            *self.next = select_unpredictable(joins, pair, literal | NONE << 9);
            self.next = self.next.add(self.pending);
            let counts = select_unpredictable(joins, self.seconds().add(32), self.firsts());
            *counts.add(literal as usize) += 1;
        }
        self.literal = literal;
        self.pending ^= 1;
    }

    /// Ends a run of literals from [`push_literal`](Self::push_literal).
    ///
    /// # Safety
    /// The list must have free space.
    #[inline(always)]
    pub(super) unsafe fn end_literals(&mut self) {
        // SAFETY: as the caller vouches.
        self.next = unsafe { self.next.add(self.pending) };
        self.pending = 0;
    }

    /// Sets the length of the list.
    #[inline(always)]
    pub(super) fn end(&mut self) {
        // SAFETY: as in `new`.
        unsafe { (*self.tokens).len = self.len() };
    }

    #[inline(always)]
    fn firsts(&self) -> *mut u16 {
        // SAFETY: as in `new`.
        unsafe { &raw mut (*self.tokens).firsts }.cast()
    }

    #[inline(always)]
    fn seconds(&self) -> *mut u16 {
        // SAFETY: as in `new`.
        unsafe { &raw mut (*self.tokens).seconds }.cast()
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        // SAFETY: both point into the list.
        unsafe { self.next.offset_from(self.list) as usize }
    }

    /// Writes a token, and keeps and counts it if `keep` is 1 but not if it is 0. Branchless.
    ///
    /// # Safety
    /// The list must have free space; `first` and `second` must be in range.
    #[inline(always)]
    pub(super) unsafe fn push_if(&mut self, keep: usize, first: u32, second: u32, extra: u32) {
        // SAFETY: as the caller vouches.
        unsafe {
            *self.next = first | second << 9 | extra << 18;
            self.next = self.next.add(keep);
            *self.firsts().add(first as usize) += keep as u16;
            *self.seconds().add(second as usize) += keep as u16;
        }
    }

    /// Like [`push_if`](Self::push_if), for a single literal. [`NONE`] is not counted, because no
    /// tree has a code for it.
    ///
    /// # Safety
    /// See [`push_if`](Self::push_if).
    #[inline(always)]
    unsafe fn push_single_if(&mut self, keep: usize, literal: u32) {
        // SAFETY: as the caller vouches.
        unsafe {
            *self.next = literal | NONE << 9;
            self.next = self.next.add(keep);
            *self.firsts().add(literal as usize) += keep as u16;
        }
    }

    /// Appends the four literals of a probe without a match.
    #[inline(always)]
    pub(super) unsafe fn push_literals<B: Buckets>(&mut self, probe: &Probe<B>) {
        // SAFETY: as the caller vouches.
        unsafe {
            self.push_if(1, probe.literal(0), 32 + probe.literal(1), 0);
            self.push_if(1, probe.literal(2), 32 + probe.literal(3), 0);
        }
    }

    /// Appends the literals of a probe before its match, and the match.
    #[inline(always)]
    pub(super) unsafe fn push_literals_and_match<B: Buckets>(&mut self, probe: &Probe<B>, found: &Match) {
        // SAFETY: as the caller vouches.
        unsafe {
            self.push_if(found.literals_before >> 1, probe.literal(0), 32 + probe.literal(1), 0);
            self.push_single_if(found.literals_before & 1, probe.literal(found.literals_before & 2));
            self.push_match(found.length, found.distance);
        }
    }

    #[inline(always)]
    pub(super) unsafe fn push_match(&mut self, length: usize, distance: usize) {
        let (symbol, extra) = distance_symbol(distance as u32);
        // SAFETY: as the caller vouches; a length is 3 to 258.
        unsafe { self.push_if(1, 256 - 3 + length as u32, symbol, extra) }
    }

    /// Appends the bytes of `literals`, in pairs.
    ///
    /// # Safety
    /// As for [`push_if`](Self::push_if), for half as many tokens as there are bytes, rounded up.
    #[inline(always)]
    pub(super) unsafe fn push_bytes(&mut self, literals: &[u8]) {
        let (pairs, rest) = literals.as_chunks::<2>();
        // SAFETY: as the caller vouches.
        unsafe {
            for &[first, second] in pairs {
                self.push_if(1, u32::from(first), 32 + u32::from(second), 0);
            }
            for &byte in rest {
                self.push_if(1, u32::from(byte), NONE, 0);
            }
        }
    }
}
