//! Owner, group and permission bits of a file. On Unix, a file that replaces it gets them as far as
//! the process may set them; elsewhere it gets what [`fs::Permissions`] holds.

use std::fs::{self, File, Metadata};
use std::io;
#[cfg(unix)]
use std::sync::Mutex;

#[cfg(unix)]
use linerate_core::lock;

/// On Unix, owner, group and permission bits of a file, without set-user-ID, set-group-ID and
/// sticky bit. Elsewhere, what [`fs::Permissions`] holds.
#[derive(Clone, Debug)]
pub struct Ownership {
    #[cfg(unix)]
    user: Option<u32>,
    #[cfg(unix)]
    group: Option<u32>,
    #[cfg(unix)]
    mode: u32,
    #[cfg(not(unix))]
    permissions: Option<fs::Permissions>,
}

#[cfg(unix)]
impl Ownership {
    /// Returns mode 0600. Leaves owner and group as they are.
    pub fn private() -> Ownership {
        Ownership { user: None, group: None, mode: 0o600 }
    }

    /// Returns owner, group and permission bits of a file.
    pub fn of(file: &Metadata) -> Ownership {
        use std::os::unix::fs::MetadataExt;
        Ownership::new(file.uid(), file.gid(), file.mode())
    }

    /// Makes an ownership without the set-user-ID and set-group-ID bits of `mode`, which writing to
    /// a file usually clears, and without the sticky bit.
    pub(crate) fn new(user: u32, group: u32, mode: u32) -> Ownership {
        Ownership { user: Some(user), group: Some(group), mode: mode & 0o777 }
    }

    /// Sets owner and group of a file if the process may, and its permission bits. If the group
    /// cannot be set, the file's group gets no more rights than others have.
    ///
    /// # Errors
    ///
    /// Returns the errors of setting the permission bits, but not those of setting owner and group.
    pub fn apply(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{PermissionsExt, fchown};
        let mut mode = self.mode;
        // Usually only the superuser can change the owner.
        let _ = fchown(file, self.user, None);
        if fchown(file, None, self.group).is_err() {
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))
    }

    /// Sets the permission bits of a new file: 0666 without those of the umask.
    pub(crate) fn apply_new(file: &File) -> io::Result<()> {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666 & !umask()))
    }
}

#[cfg(not(unix))]
impl Ownership {
    /// Returns an ownership that leaves the permissions of a file as they are.
    pub fn private() -> Ownership {
        Ownership { permissions: None }
    }

    /// Returns the permissions of a file.
    pub fn of(file: &Metadata) -> Ownership {
        Ownership { permissions: Some(file.permissions()) }
    }

    /// Sets the permissions of a file.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system.
    pub fn apply(&self, file: &File) -> io::Result<()> {
        self.permissions.clone().map_or(Ok(()), |permissions| file.set_permissions(permissions))
    }

    pub(crate) fn apply_new(_file: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the umask of the process.
#[cfg(unix)]
fn umask() -> u32 {
    #[cfg(target_os = "linux")]
    {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        if let Some(mask) = mask.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok()) {
            return mask;
        }
    }
    // Otherwise the umask can only be read by setting it. Files that other threads create meanwhile
    // are private.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = lock(&ONE);
    let mask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    rustix::process::umask(mask);
    // `mode_t` has 16 bits on some systems.
    #[allow(clippy::useless_conversion)]
    u32::from(mask.bits())
}
