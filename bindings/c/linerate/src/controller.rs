//! Chooses the level of a server's deflate calls by CPU time and input rate.

use std::time::Duration;

use linerate_deflate::Controller;

use crate::border::{place, run};
use crate::deflate::level_of;
use crate::error::linerate_error;
use crate::handles::Table;

/// Chooses the level for a server's streams: a lower one while the server uses more CPU time, or
/// compresses more input, than its limits allow, and a higher one again afterwards. Many threads
/// may use it, and none of them waits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_controller {
    /// The handle.
    pub id: u64,
}

static CONTROLLERS: Table<Controller> = Table::new(5);

/// Allocates a controller that chooses levels from 0 to max_level, and begins with max_level.
/// max_cpu is the CPU time that the process may use, in percent of one CPU, and max_rate the input
/// that may be compressed, in bytes per second. 0 means no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_controller_new(
    max_level: i32,
    max_cpu: u32,
    max_rate: u64,
    controller: *mut linerate_controller,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let controller = unsafe { place!(controller) }?;
        let mut new = Controller::new(level_of(max_level)?);
        if max_cpu > 0 {
            new = new.max_cpu(max_cpu);
        }
        if max_rate > 0 {
            new = new.max_rate(max_rate);
        }
        controller.write(linerate_controller { id: CONTROLLERS.insert(new)? });
        Ok(())
    })
}

/// Frees a controller. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_controller_free(controller: linerate_controller) -> linerate_error {
    run(|| CONTROLLERS.free_unless_zero(controller.id))
}

/// Counts the len bytes of input of a call that compressed. Do not count calls at level 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_controller_add_input(
    controller: linerate_controller,
    len: usize,
) -> linerate_error {
    run(|| {
        CONTROLLERS.share(controller.id)?.add_input(len);
        Ok(())
    })
}

/// Stores the level for the next call of any stream. The first call of this function begins a
/// period. The first call at least 100 ms later ends it, chooses the level again and begins the
/// next period. The level becomes one lower if usage in the period exceeded a limit, and one higher
/// if usage was at most three quarters of each limit and earlier excess has been made up for. now
/// is the time of any clock that never runs backwards, and cpu the CPU time that the process has
/// used so far. Both are in nanoseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_controller_level(
    controller: linerate_controller,
    now: u64,
    cpu: u64,
    level: *mut i32,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let level = unsafe { place!(level) }?;
        let chosen =
            CONTROLLERS.share(controller.id)?.update(Duration::from_nanos(now), Duration::from_nanos(cpu));
        level.write(chosen as i32);
        Ok(())
    })
}
