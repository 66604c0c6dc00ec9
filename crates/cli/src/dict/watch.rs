//! Bytes worked on by many threads, as a bar.

use std::sync::{Mutex, PoisonError};

use crate::account::Account;
use crate::progress::Progress;

pub(crate) struct Watch(Mutex<(Progress, u64)>);

impl Watch {
    pub(crate) fn new(account: &Account, name: &str, total: Option<u64>) -> Watch {
        Watch(Mutex::new((account.progress(name, total), 0)))
    }

    /// So many bytes more.
    pub(crate) fn add(&self, bytes: usize) {
        let (bar, done) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *done += bytes as u64;
        bar.update(*done);
    }
}
