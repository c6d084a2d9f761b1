//! Stores added to and subtracted from one another.

mod common;

use _core::counts::rows::ClassId;
use _core::counts::store::Settings;
use _core::error::Error;
use common::{Example, Learner, UNBOUNDED, assert_consistent, indexed, lengths, stream};

const SAME: [ClassId; 3] = [0, 1, 2];

/// All three classes exist from the start, so that they have the same ids in every store.
fn shards() -> [Vec<Example>; 3] {
    let mut shards = [stream(21, 60, 40, 3), stream(22, 60, 40, 3), stream(23, 60, 40, 3)];
    for shard in &mut shards {
        for (class, example) in shard.iter_mut().take(3).enumerate() {
            example.class = class as ClassId;
        }
    }
    shards
}

#[test]
fn merging_is_learning_one_stream_after_the_other() {
    for settings in [
        UNBOUNDED,
        Settings { index_size: 0, ..UNBOUNDED },
        Settings { index_size: 100, ..UNBOUNDED },
        Settings { index_size: 1, frequencies: false, ..UNBOUNDED },
    ] {
        let shards = shards();
        let [a, b, c] = shards.each_ref().map(|shard| Learner::of(settings, shard));
        let whole = Learner::of(settings, &shards.concat());
        let mut left = a.store.clone();
        left.merge(&b.store, &SAME).expect("room");
        left.merge(&c.store, &SAME).expect("room");
        let mut tail = b.store.clone();
        tail.merge(&c.store, &SAME).expect("room");
        let mut right = a.store.clone();
        right.merge(&tail, &SAME).expect("room");
        for merged in [&left, &right] {
            assert!(common::snapshot(merged) == whole.snapshot());
            assert_eq!(lengths(merged), lengths(&whole.store));
            assert_consistent(merged);
        }
    }
}

#[test]
fn counts_do_not_depend_on_the_order_of_merging() {
    let settings = Settings { index_size: 0, ..UNBOUNDED };
    let learners = shards().map(|shard| Learner::of(settings, &shard));
    let mut snapshots = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut merged = Learner::new(settings).store;
        for shard in order {
            merged.merge(&learners[shard].store, &SAME).expect("room");
        }
        snapshots.push(common::snapshot(&merged));
    }
    assert!(snapshots.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn the_other_stores_documents_are_the_younger_ones() {
    let settings = Settings { index_size: 70, ..UNBOUNDED };
    let [first, second, _] = shards();
    let mut merged = Learner::of(settings, &first).store;
    merged.merge(&Learner::of(settings, &second).store, &SAME).expect("room");
    let kept = [&first[50..], &second[..]].concat();
    assert_eq!(indexed(&merged), indexed(&Learner::of(UNBOUNDED, &kept).store));
}

#[test]
fn classes_are_mapped() {
    let [first, second, _] = shards();
    let turned: Vec<Example> = second
        .iter()
        .map(|e| Example { class: [2, 0, 5][e.class as usize], ..e.clone() })
        .collect();
    let whole = Learner::of(UNBOUNDED, &[first.clone(), turned].concat());
    let mut merged = Learner::of(UNBOUNDED, &first);
    let before = merged.snapshot();
    let other = Learner::of(UNBOUNDED, &second);
    merged.store.merge(&other.store, &[2, 0, 5]).expect("room");
    assert!(merged.snapshot() == whole.snapshot());
    assert_eq!(merged.store.subtract(&other.store, &[2, 0, 5]), Ok(()));
    assert!(merged.snapshot() == before);
}

#[test]
fn subtracting_undoes_merging() {
    for index_size in [0, usize::MAX] {
        let settings = Settings { index_size, ..UNBOUNDED };
        let [a, b, c] = shards().map(|shard| Learner::of(settings, &shard));
        for gone in [&b, &c, &a] {
            let mut merged = Learner::new(settings).store;
            for learner in [&a, &b, &c] {
                merged.merge(&learner.store, &SAME).expect("room");
            }
            assert_eq!(merged.subtract(&gone.store, &SAME), Ok(()));
            let mut kept = Learner::new(settings).store;
            for learner in [&a, &b, &c].into_iter().filter(|l| !std::ptr::eq(*l, gone)) {
                kept.merge(&learner.store, &SAME).expect("room");
            }
            // A message of both the store kept and the one taken is taken where it is youngest,
            // so the order of the index is that of the others only if the youngest store goes.
            let bare = |store| (lengths(store), store.vocabulary.len());
            assert_eq!(bare(&merged), bare(&kept));
            assert_eq!(merged.documents(), kept.documents());
            if index_size == 0 || std::ptr::eq(gone, &c) {
                assert!(common::snapshot(&merged) == common::snapshot(&kept));
            }
            assert_consistent(&merged);
        }
    }
}

#[test]
fn a_store_less_itself_is_empty() {
    let [examples, ..] = shards();
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let same = learner.store.clone();
    assert_eq!(learner.store.subtract(&same, &SAME), Ok(()));
    assert_eq!(learner.snapshot(), Learner::new(UNBOUNDED).snapshot());
}

#[test]
fn what_was_not_merged_can_not_be_subtracted() {
    for index_size in [0, usize::MAX] {
        let settings = Settings { index_size, ..UNBOUNDED };
        let [a, b, _] = shards().map(|shard| Learner::of(settings, &shard));
        let mut store = a.store.clone();
        let before = common::snapshot(&store);
        let wrong = [
            vec![Example::new(&[("never", 1.0)], 0)],
            vec![Example::new(&[("w0", 1e6)], 0)],
            vec![Example { weight: 1e6, ..Example::new(&[], 0) }],
            vec![Example::new(&[("w0", 1.0)], 2); 1000],
            vec![Example::new(&[("w0", 1.0)], 3)],
        ];
        let cases = wrong.map(|examples| Learner::of(settings, &examples));
        for case in cases.iter().chain([&b]) {
            let done = store.subtract(&case.store, &[0, 1, 2, 3]);
            assert!(matches!(done, Err(Error::NotLearned(_))), "{done:?}");
            assert!(common::snapshot(&store) == before);
        }
        assert_eq!(lengths(&store), lengths(&a.store));
    }
}

#[test]
fn subtracting_never_leaves_indexed_documents_without_counts() {
    // The other store kept no index, so nothing tells which of our documents it learned.
    let ours = [Example::new(&[("a", 1.0)], 0), Example::new(&[("b", 1.0)], 0)];
    let mut learner = Learner::of(UNBOUNDED, &ours);
    let before = learner.snapshot();
    let other = Learner::of(Settings { index_size: 0, ..UNBOUNDED }, &ours[..1]);
    assert!(learner.store.subtract(&other.store, &[0]).is_err());
    assert!(learner.snapshot() == before);

    // A word that was pruned and came back belongs to other documents than before.
    let pair = Example::new(&[("a", 1.0), ("b", 1.0)], 0);
    let mut learner = Learner::of(UNBOUNDED, &[pair.clone(), Example::new(&[("a", 1.0)], 0)]);
    learner.store.prune(1);
    learner.learn(&Example::new(&[("b", 1.0)], 0));
    let before = learner.snapshot();
    let other = Learner::of(UNBOUNDED, std::slice::from_ref(&pair));
    assert!(learner.store.subtract(&other.store, &[0]).is_err());
    assert!(learner.snapshot() == before);
}

#[test]
fn subtracting_never_leaves_documents_without_tokens() {
    let settings = Settings { index_size: 0, ..UNBOUNDED };
    let once = Example::new(&[("a", 1.0)], 0);
    let mut learner = Learner::of(settings, &[once.clone(), once]);
    let before = learner.snapshot();
    let other = Learner::of(settings, &[Example::new(&[("a", 2.0)], 0)]);
    assert!(learner.store.subtract(&other.store, &[0]).is_err());
    assert!(learner.snapshot() == before);
}
