//! Work that takes long: without the GIL, and a signal ends it.
//!
//! Python calls the handlers of signals between two of its own steps, on its main thread only. So
//! work on that thread asks for the GIL now and then, and lets Python look. Whatever a handler
//! raises, `KeyboardInterrupt` for Ctrl-C, ends the work and is raised from it. The store's lock is
//! held meanwhile: a handler may raise, and it may predict, but it must not learn with that model.

use crate::watch::Watch;
use pyo3::prelude::*;
use std::cell::RefCell;

/// Does work without the GIL, with a watch that stops it when a signal's handler raises; returns
/// what the work found, or raises what the handler did.
pub fn watched<R: Send>(py: Python<'_>, work: impl FnOnce(&Watch<'_>) -> R + Send) -> PyResult<R> {
    py.detach(|| {
        let raised = RefCell::new(None);
        let goes_on = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(error) => {
                raised.replace(Some(error));
                false
            }
        };
        let found = work(&Watch::asking(&goes_on));
        raised.into_inner().map_or(Ok(found), Err)
    })
}
