//! Work is shared between threads, counted, and stopped.

use _core::threads::shared;
use _core::watch::Watch;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Number of steps between two checks of the clock.
const STEPS: u64 = 1 << 18;

#[test]
fn a_watch_checks_periodically_and_stays_stopped() {
    let asked = Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 2
    };
    let watch = Watch::asking(&goes_on);
    assert!(!watch.stops(STEPS as usize));
    assert_eq!(asked.get(), 0);
    let mut rounds = 0;
    while !watch.stops(1000) {
        std::thread::sleep(Duration::from_micros(100));
        rounds += 1;
        assert!(rounds < 1_000_000);
    }
    assert_eq!((asked.get(), watch.is_stopped(), watch.stops(STEPS as usize)), (2, true, true));
    assert_eq!(watch.steps(), 2 * STEPS + 1000 * (rounds + 1));
    assert_eq!(asked.get(), 2);
}

#[test]
fn a_default_watch_never_stops() {
    let watch = Watch::default();
    assert!(!watch.stops(usize::MAX >> 1));
}

#[test]
#[should_panic(expected = "the other one")]
fn a_panic_of_another_thread_reaches_the_caller() {
    shared(3, &Watch::default(), |_| (), |_| panic!("the other one"));
}

#[test]
fn each_thread_takes_a_share() {
    let next = AtomicUsize::new(0);
    let take = |_: &Watch| next.fetch_add(1, Ordering::Relaxed);
    for threads in [0, 1, 4] {
        next.store(0, Ordering::Relaxed);
        let mut found = shared(threads, &Watch::default(), take, take);
        found.sort_unstable();
        assert_eq!(found, (0..threads.max(1)).collect::<Vec<_>>());
    }
}

#[test]
fn a_watch_that_stops_one_stops_all() {
    let asked = Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        false
    };
    let endless = |watch: &Watch| while !watch.stops(1 << 20) {};
    let found = shared(3, &Watch::asking(&goes_on), |_| (), endless);
    assert_eq!((found.len(), asked.get()), (3, 1));
}
