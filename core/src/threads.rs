//! Share work between threads.

use crate::watch::Watch;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
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
    let stopped = AtomicBool::new(false);
    let goes_on = || !stopped.load(Ordering::Relaxed);
    thread::scope(|scope| {
        // Each thread holds a sender until it ends.
        let (running, ended) = mpsc::channel::<()>();
        let start = |_| {
            let (running, other, goes_on) = (running.clone(), &other, &goes_on);
            scope.spawn(move || {
                let _running = running;
                other(&Watch::asking(goes_on))
            })
        };
        let others: Vec<_> = (1..threads).map(start).collect();
        drop(running);
        let mut found = vec![own(watch)];
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            stopped.store(watch.asks(), Ordering::Relaxed);
        }
        for other in others {
            found.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    })
}

/// Lock a value, even if a thread panicked while it held the lock.
pub fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
