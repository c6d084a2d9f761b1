//! Share work between threads.

use crate::watch::Watch;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// Time between two checks of a waiting thread whether the others must stop.
pub const LOOK: Duration = Duration::from_millis(20);

/// Run `own` on the caller's thread and `other` on `threads - 1` others; return all results. When the
/// watch stops the caller's work, the others also end soon.
pub fn shared<R: Send>(
    threads: usize,
    watch: &Watch,
    own: impl FnOnce(&Watch) -> R,
    other: impl Fn(&Watch) -> R + Sync,
) -> Vec<R> {
    if threads <= 1 {
        return vec![own(watch)];
    }
    let (stopped, running) = (AtomicBool::new(false), AtomicUsize::new(threads - 1));
    let caller = thread::current();
    let work = || {
        let _done = Done { running: &running, caller: &caller };
        let goes_on = || !stopped.load(Ordering::Relaxed);
        other(&Watch::asking(&goes_on))
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut found = vec![own(watch)];
        while running.load(Ordering::Acquire) > 0 {
            if watch.asks() {
                stopped.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(LOOK);
        }
        for other in others {
            match other.join() {
                Ok(result) => found.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    })
}

/// Lock a value, even if a thread panicked while it held the lock.
pub fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notifies the caller that a thread has ended, even by a panic.
struct Done<'a> {
    running: &'a AtomicUsize,
    caller: &'a Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}
