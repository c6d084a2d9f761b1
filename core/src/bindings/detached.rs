//! Work without the GIL, at the end of the process and next to forks.
//!
//! While Python ends, a thread that takes the GIL is ended by unwinding its stack (until Python 3.13),
//! which must not pass through frames of Rust: the process would crash. And a child of `fork` has
//! only the thread that forked: a lock that another thread held is locked forever. `streamnb.processes`
//! calls the functions of this module at the end and around forks.
//!
//! The counters are atomic numbers and not behind a lock, because a fork would copy the lock.

use pyo3::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{park, sleep};
use std::time::Duration;

/// Time between two looks at the counters.
const LOOK: Duration = Duration::from_micros(200);

/// Whether Python is about to end: no thread takes the GIL again.
static ENDS: AtomicBool = AtomicBool::new(false);
/// Whether a thread is about to fork: no other thread begins to work without the GIL.
static FORKS: AtomicBool = AtomicBool::new(false);
/// Number of threads that work without the GIL, until they have it again.
static WORKING: AtomicUsize = AtomicUsize::new(0);
/// Number of threads that take the GIL.
static TAKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How many of `WORKING` are this thread: more than one within a signal handler.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// Announces that this thread takes the GIL; false if it must not.
fn may_take() -> bool {
    TAKING.fetch_add(1, SeqCst);
    if ends() {
        TAKING.fetch_sub(1, SeqCst);
        return false;
    }
    true
}

fn has_taken() {
    TAKING.fetch_sub(1, SeqCst);
}

/// Does work without the GIL. At the end of Python the thread stops instead of returning.
pub fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    // The main thread may work in a handler of the end, which waits for nobody then.
    if ends() {
        return work();
    }
    let own = OWN.get();
    let found = py.detach(|| {
        begin(own);
        let found = catch_unwind(AssertUnwindSafe(work));
        while !may_take() {
            park();
        }
        found
    });
    has_taken();
    WORKING.fetch_sub(1, SeqCst);
    OWN.set(own);
    found.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Announces that this thread works without the GIL; waits while another thread forks.
fn begin(own: usize) {
    OWN.set(own + 1);
    loop {
        WORKING.fetch_add(1, SeqCst);
        if own > 0 || !FORKS.load(SeqCst) {
            return;
        }
        WORKING.fetch_sub(1, SeqCst);
        sleep(LOOK);
    }
}

/// Whether Python is about to end.
pub fn ends() -> bool {
    ENDS.load(SeqCst)
}

/// Takes the GIL within [`detached`] work; None at the end of Python, when the work must stop.
pub fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    if !may_take() {
        return None;
    }
    Some(Python::attach(|py| {
        has_taken();
        work(py)
    }))
}

/// Let no thread of the core take the GIL from now on.
#[pyfunction]
pub fn end_threads(py: Python<'_>) {
    ENDS.store(true, SeqCst);
    py.detach(|| {
        while TAKING.load(SeqCst) > 0 {
            sleep(LOOK);
        }
    });
}

/// Wait until no other thread of the core works without the GIL, and let none begin.
#[pyfunction]
pub fn before_fork(py: Python<'_>) {
    let own = OWN.get();
    py.detach(|| {
        while FORKS.swap(true, SeqCst) {
            sleep(LOOK);
        }
    });
    // Threads that wait for the GIL need it to become ready.
    while WORKING.load(SeqCst) > own {
        py.detach(|| sleep(LOOK));
    }
}

/// Let the threads of the core work again after a fork. The child has only this one.
#[pyfunction]
pub fn after_fork(is_child: bool) {
    if is_child {
        WORKING.store(OWN.get(), SeqCst);
        TAKING.store(0, SeqCst);
    }
    FORKS.store(false, SeqCst);
}
