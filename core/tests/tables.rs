//! The tables of counts, each alone: rows, classes, index, bag, clock, attributes, slices and trees.

use _core::counts::alloc::make_room;
use _core::counts::attributes::{Attributes, NONE};
use _core::counts::bag::Bag;
use _core::counts::clock::Clock;
use _core::counts::index::{Document, Index};
use _core::counts::rows::{Class, ClassId, DIVISOR, FLOOR, Rows, SparseRows, take};
use _core::counts::term_weighting::TermWeighting;
use _core::counts::vocabulary::WordId;
use _core::counts::{Cells, Slice};
use _core::online::damping::Damping;
use _core::statistics::tree::Tree;
use std::collections::BTreeMap;

#[test]
fn rows_hold_one_cell_a_class() {
    let mut rows = SparseRows::<f64>::default();
    rows.reach(1);
    assert_eq!((rows.slots(), rows.n_cells(), rows.is_empty(1)), (2, 0, true));
    for class in [3, 1, 3, 0, 1, 3] {
        *rows.entry(1, class) += 1.0;
    }
    assert_eq!(rows.n_cells(), 3);
    assert_eq!(rows.cell(1, 3).copied(), Some(3.0));
    assert_eq!((rows.cell(1, 2), rows.cell(0, 3)), (None, None));
    rows.remove(1, 3);
    let mut classes: Vec<ClassId> = rows.cells(1).map(|(class, _)| class).collect();
    classes.sort_unstable();
    assert_eq!(classes, [0, 1]);
    rows.remove(1, 0);
    rows.remove(1, 1);
    assert!(rows.is_empty(1));
    // The block of the other cells is reused.
    let size = rows.size();
    rows.entry(0, 5);
    rows.entry(0, 6);
    rows.entry(0, 7);
    assert_eq!((rows.n_cells(), rows.size()), (3, size));
}

#[test]
fn rows_agree_with_a_map() {
    // A fixed sequence of additions and removals, compared with a simple map.
    let mut rows = SparseRows::<f64>::default();
    rows.reach(7);
    let mut map = BTreeMap::new();
    let mut state = 1u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (word, class) = ((state >> 33) as u32 % 8, (state >> 40) as u32 % 21);
        if (state >> 50).is_multiple_of(3) {
            rows.remove(word, class);
            map.remove(&(word, class));
        } else {
            *rows.entry(word, class) += 1.0;
            *map.entry((word, class)).or_insert(0.0) += 1.0;
        }
    }
    assert_eq!(rows.n_cells(), map.len());
    for (&(word, class), &tokens) in &map {
        assert_eq!(rows.cell(word, class).copied(), Some(tokens));
    }
    for word in 0..8 {
        let cells = map.range((word, 0)..(word, 99)).count();
        assert_eq!(rows.cells(word).count(), cells);
    }
}

#[test]
fn lazy_division_equals_division_at_once() {
    // A fixed sequence of additions, removals and divisions, compared with a simple map.
    let mut rows = Rows::new(true, true);
    rows.reach(7);
    let mut map = BTreeMap::<(WordId, ClassId), (f64, f64)>::new();
    let (mut state, mut divisions) = (1u64, 0);
    for step in 0..5_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (word, class) = ((state >> 33) as u32 % 8, (state >> 40) as u32 % 5);
        let amount = 1.5 * f64::from(step % 700).exp2();
        match (state >> 50) % 16 {
            0 => {
                rows.set(word, class, 0.0, 0.0);
                map.remove(&(word, class));
            }
            1 => {
                let times = (state >> 55) as u32 % 3;
                divisions += times;
                rows.divide(times);
                for (tokens, documents) in map.values_mut() {
                    for _ in 0..times {
                        *tokens = (*tokens * (-256f64).exp2()).max((-400f64).exp2());
                        *documents = (*documents * (-256f64).exp2()).max((-400f64).exp2());
                    }
                }
            }
            _ => {
                let amount = amount.min(255f64.exp2());
                rows.add(word, class, amount, 1.0);
                let (tokens, documents) = map.entry((word, class)).or_default();
                *tokens += amount;
                *documents += 1.0;
            }
        }
        for word in 0..8 {
            let mut cells: Vec<_> = rows.cells(word).collect();
            cells.sort_unstable_by_key(|cell| cell.class);
            let found = cells.iter().map(|c| ((word, c.class), (c.tokens, c.documents)));
            let expected = map.range((word, 0)..(word, 9)).map(|(&key, &value)| (key, value));
            assert!(found.eq(expected), "step {step}");
        }
    }
    assert!(divisions > 200);
}

#[test]
fn packed_rows_agree_with_a_map() {
    // A fixed sequence of additions and removals, including counts and classes that do not fit and
    // fractions, compared with a simple map.
    let mut rows = Rows::new(true, false);
    rows.reach(11);
    let mut map = BTreeMap::<(WordId, ClassId), (f64, f64)>::new();
    let mut state = 1u64;
    for step in 0..40_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let word = (state >> 33) as u32 % 12;
        // Words of one class, of a few, and of many.
        let mut class = (state >> 40) as u32 % [1, 2, 3, 40, 5, 5, 5][word as usize % 7];
        if (4..7).contains(&word) {
            class += 4 * (word - 4); // the classes of one begin where those of another end
        }
        // Blocks of cells fill up, become empty and are reused.
        let removals = if step / 400 % 4 == 0 { 50 } else { 500 };
        match (state >> 50) % 1024 {
            number if number < removals => {
                rows.set(word, class, 0.0, 0.0);
                map.remove(&(word, class));
            }
            number => {
                let amounts = match number {
                    500 => (0.5, 1.0),
                    501 => (1_048_575.0, 1.0),
                    502 => (1e15, 1e9),
                    504 => (3.0, 1_048_575.0),
                    // Two of these do not fit in a pair.
                    505 => (65_534.0, 1.0),
                    506 => (40_000.0, 32_766.0),
                    _ => (2.0, 1.0),
                };
                let class = if number == 503 { 1 << 22 } else { class };
                let (tokens, documents) = map.entry((word, class)).or_default();
                let before = *documents;
                *tokens += amounts.0;
                *documents += amounts.1;
                let added = rows.add(word, class, amounts.0, amounts.1);
                assert_eq!(added, (*documents, before), "step {step}");
            }
        }
        // Check all words: no change may leak to another word.
        for word in 0..12 {
            let mut cells: Vec<_> = rows.cells(word).collect();
            cells.sort_unstable_by_key(|cell| cell.class);
            let found = cells.iter().map(|c| ((word, c.class), (c.tokens, c.documents)));
            let expected = map.range((word, 0)..=(word, ClassId::MAX));
            assert!(found.eq(expected.map(|(&key, &value)| (key, value))), "step {step}");
            if cells.iter().all(|cell| cell.class < 2) {
                let two = rows.two(word).map(|c| (c.tokens, c.documents));
                let of = |class| map.get(&(word, class)).copied().unwrap_or_default();
                assert_eq!(two, [of(0), of(1)], "step {step}");
            }
        }
        let tokens = map.get(&(word, class)).map(|&(tokens, _)| tokens);
        assert_eq!(rows.cell(word, class).map(|cell| cell.tokens), tokens);
        assert_eq!(rows.is_empty(word), rows.cells(word).next().is_none());
    }
    assert_eq!(rows.n_cells(), map.len());
    // Freed wide rows are reused.
    assert!(rows.size() < 20_000, "{}", rows.size());
}

#[test]
fn taking_is_exact_for_integers_and_leaves_no_rounding() {
    assert_eq!(take(1e15, 999_999_999_999_999.0), Some(1.0));
    assert_eq!(take(2f64.powi(49), 2f64.powi(49) - 1.0), Some(1.0));
    assert_eq!((take(3.0, 3.0), take(3.0, 4.0)), (Some(0.0), None));
    assert_eq!((take(0.1 + 0.2, 0.3), take(0.3, 0.1 + 0.2)), (Some(0.0), Some(0.0)));
    assert_eq!(take(0.3, 0.25), Some(0.3 - 0.25));
}

#[test]
fn frequencies_count_words() {
    let mut class = Class::default();
    class.move_frequency(0.0, 1.0);
    class.move_frequency(0.0, 1.0);
    class.move_frequency(1.0, 2.5);
    assert_eq!(class.frequencies().collect::<Vec<_>>(), [(1.0, 1.0), (2.5, 1.0)]);
    class.move_frequency(2.5, 0.0);
    class.move_frequency(1.0, 0.0);
    assert_eq!(class.frequencies().count(), 0);
}

#[test]
fn frequencies_are_divided_in_place() {
    let (mut class, share) = (Class::default(), (-256f64).exp2());
    [1.0, 3.0, 3.0, 1e60].iter().for_each(|&documents| class.move_frequency(0.0, documents));
    class.divide(1);
    class.move_frequency(3.0 * share, 2.0);
    let expected = [(share, 1.0), (3.0 * share, 1.0), (1e60 * share, 1.0), (2.0, 1.0)];
    assert_eq!(class.frequencies().collect::<Vec<_>>(), expected);
    class.divide(1);
    // Two words have fallen to the floor.
    let (high, two) = ((1e60 * share * share, 1.0), (2.0 * share, 1.0));
    assert_eq!(class.frequencies().collect::<Vec<_>>(), [(FLOOR, 2.0), high, two]);
    class.move_frequency(FLOOR, 1.0);
    class.move_frequency(0.0, FLOOR);
    class.move_frequency(FLOOR, 0.0);
    class.move_frequency(FLOOR, 5.0);
    let expected = [high, two, (1.0, 1.0), (5.0, 1.0)];
    assert_eq!(class.frequencies().collect::<Vec<_>>(), expected);
}

fn document(class: ClassId, words: &[(WordId, f64)]) -> Document {
    Document { class, weight: 1.0, words: words.into() }
}

#[test]
fn keeps_arrival_order_and_postings() {
    let mut index = Index::default();
    index.push(document(0, &[(1, 1.0), (2, 2.0)]));
    index.push(document(1, &[(2, 1.0)]));
    index.push(document(0, &[]));
    index.push(document(0, &[(1, 1.0), (2, 2.0)]));
    assert_eq!((index.len(), index.frequency(2), index.frequency(9)), (4, 3, 0));
    assert_eq!(index.matches(0, &[(1, 1.0), (2, 2.0)]), [3, 0]);
    assert_eq!(index.matches(0, &[]), [2]);
    assert_eq!(index.remove(1), Some(document(1, &[(2, 1.0)])));
    assert_eq!(index.pop_oldest(), Some(document(0, &[(1, 1.0), (2, 2.0)])));
    index.push(document(2, &[(2, 5.0)]));
    let counts: Vec<f64> = index.postings(2).map(|posting| posting.count).collect();
    assert_eq!(counts, [2.0, 5.0]);
    assert_eq!([0, 2, 3].map(|slot| index.norm(slot)), [5.0, 0.0, 5f64.sqrt()]);
    assert_eq!(index.with_any(&[1, 2]), [0, 3]);
    index.forget_word(2);
    index.set_words(0, [].into());
    index.set_words(3, [(1, 1.0)].into());
    assert_eq!((index.frequency(2), index.norm(3)), (0, 1.0));
    let lengths: Vec<f64> = index.documents().map(Document::length).collect();
    assert_eq!(lengths, [0.0, 1.0, 0.0]);
}

#[test]
fn counts_each_word_once() {
    let mut bag = Bag::default();
    for _ in 0..3 {
        bag.clear(2);
        for word in [5, 1, 5, 9, 1, 5] {
            bag.add(word, 1.0);
        }
        bag.add_unseen(7, 1.0, true);
        bag.add_unseen(8, 1.0, true);
        bag.add_unseen(7, 2.0, true);
        assert_eq!(bag.words, [(5, 3.0), (1, 2.0), (9, 1.0)]);
        assert_eq!(
            (bag.tokens(), bag.unseen_tokens(), bag.unseen_counts()),
            (6.0, 4.0, vec![3.0, 1.0])
        );
        let positions = [5, 1, 9, 0, 99].map(|word| bag.position(word));
        assert_eq!(positions, [Some(0), Some(1), Some(2), None, None]);
    }
}

/// Half-lives after which counts are divided.
const RANGE: f64 = DIVISOR as f64;

#[test]
fn a_unit_doubles_in_a_half_life_and_stays_in_range() {
    let mut clock = Clock::new(false);
    for _ in 0..20 {
        assert_eq!(clock.tick(10.0), 0);
    }
    assert_eq!(clock.unit, 4.0);
    let mut divided = 0;
    for _ in 20..1_000_000 {
        divided += clock.tick(10.0);
        assert!((1.0..RANGE.exp2()).contains(&clock.unit));
    }
    assert!((clock.unit.log2() + RANGE * f64::from(divided) - 100_000.0).abs() < 1e-6);
    let Clock { begun, now, start, .. } = clock;
    assert_eq!(Clock::restored(10.0, begun, now, start), Some(clock));
    for (messages, start) in [(1.0, 256.0), (1.0, -1.0), (1.0, f64::NAN), (2560.0, 0.0)] {
        assert_eq!(Clock::restored(10.0, 0.0, messages, start), None);
    }
    assert_eq!(Clock::restored(10.0, 1.0, 0.0, 0.0), None);
}

#[test]
fn the_unit_is_finite_for_short_half_lives() {
    for half_life in [f64::MIN_POSITIVE, 1e-9, 0.5] {
        let mut clock = Clock::new(false);
        for _ in 0..5000 {
            clock.tick(half_life);
            assert!((1.0..RANGE.exp2()).contains(&clock.unit), "{half_life}");
        }
    }
}

#[test]
fn times_advance_by_at_most_a_half_life_and_never_go_back() {
    let mut clock = Clock::new(true);
    let mut reached = |time: f64| {
        assert_eq!(clock.reach(time, 10.0), 0);
        (clock.now, clock.unit)
    };
    assert_eq!(reached(f64::NAN), (Clock::NEVER, 1.0));
    assert_eq!(reached(-5.0), (-5.0, 1.0));
    assert_eq!(reached(5.0), (5.0, 2.0));
    assert_eq!(reached(-100.0), (5.0, 2.0));
    assert_eq!(reached(f64::NAN), (5.0, 2.0));
    assert_eq!(reached(1e300), (15.0, 4.0));
    let (mut late, mut never) = (Clock::new(true), Clock::new(true));
    late.reach(10_015.0, 10.0);
    assert_eq!(late.join(&clock, 10.0), (0, (-1000f64).exp2()));
    assert_eq!(clock.join(&late, 10.0), (3, 1.0));
    assert_eq!((clock.now, clock.unit.log2()), (late.now, 1002.0 - 768.0));
    assert_eq!(clock.join(&never, 10.0), (0, 1.0));
    assert_eq!((never.join(&clock, 10.0), never.now), ((0, 1.0), clock.now));
}

#[test]
fn names_end_at_the_first_bare_sign() {
    let names: [(&[u8], &[u8]); 5] = [
        (b"a=b=c", b"a"),
        (br"a\=b=c", br"a\=b"),
        (br"a\\=b", br"a\\"),
        (b"word", b"word"),
        (b"=x", b""),
    ];
    for (word, name) in names {
        let mut attributes = Attributes::default();
        attributes.add(0, word);
        assert_eq!((attributes.find(&[name, b"=x"].concat()), attributes.of(0)), (0, 0));
    }
}

#[test]
fn values_come_and_go() {
    let mut attributes = Attributes::default();
    attributes.declare(b"b", 3);
    for (word, bytes) in [(0, &b"a=1"[..]), (5, b"a=2"), (2, b"b=1"), (5, b"a=2")] {
        attributes.add(word, bytes);
    }
    let (a, b) = (attributes.of(0), attributes.of(2));
    assert_eq!((attributes.of(5), attributes.of(1), attributes.of(99)), (a, NONE, NONE));
    assert_eq!((attributes.values(a), attributes.values(b)), (2.0, 3.0));
    assert_eq!((attributes.find(b"b=new"), attributes.find(b"c=1")), (b, NONE));
    assert_eq!(attributes.sorted_ids(), [a, b]);
    assert_eq!(attributes.remove(0), None);
    assert_eq!(attributes.remove(5), Some(a));
    assert_eq!((attributes.sorted_ids(), attributes.slots()), (vec![b], 2));
    attributes.add(7, b"c=1");
    assert_eq!((attributes.of(7), attributes.find(b"a=1")), (a, NONE));
    assert_eq!(attributes.emptied().values(b), 3.0);
}

/// Values are multiples of 1 / STEPS.
const STEPS: f64 = 1_048_576.0;

/// The nearest multiple.
fn step(value: f64) -> f64 {
    (value * STEPS).round_ties_even() / STEPS
}

fn formed(name: &str, known: &[f64], unseen: &[(u64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let mut bag = Bag::default();
    bag.clear(known.len());
    known.iter().enumerate().for_each(|(word, &count)| bag.add(word as u32, count));
    unseen.iter().for_each(|&(hash, count)| bag.add_unseen(hash, count, true));
    TermWeighting::named(name).expect("a name").apply(&mut bag);
    let known = bag.words.iter().map(|&(_, value)| value).collect();
    (known, bag.unseen.iter().map(|unseen| unseen.count).collect())
}

#[test]
fn values_are_those_of_the_form() {
    let unseen = [(7, 1.0), (8, 1.0), (7, 1.0)];
    assert_eq!(formed("counts", &[3.0, 1.0], &unseen), (vec![3.0, 1.0], vec![1.0; 3]));
    // All tokens of an unknown word count as one word.
    assert_eq!(formed("presence", &[3.0, 1.0], &unseen), (vec![1.0; 2], vec![1.0, 1.0, 0.0]));
    let (log, unit) = (|count: f64| step(count.ln_1p()), |value| step(value / 15_f64.sqrt()));
    let expected = (vec![log(3.0), log(1.0)], vec![log(2.0), log(1.0), 0.0]);
    assert_eq!(formed("log", &[3.0, 1.0], &unseen), expected);
    let expected = (vec![unit(3.0), unit(1.0)], vec![unit(2.0), unit(1.0), 0.0]);
    assert_eq!(formed("unit", &[3.0, 1.0], &unseen), expected);
    assert_eq!(formed("presence-unit", &[9.0, 1.0, 5.0, 2.0], &[]).0, [0.5; 4]);
    assert_eq!(formed("log-unit", &[2.0; 4], &[]).0, [0.5; 4]);
    assert_eq!(formed("log-unit", &[], &[]), (vec![], vec![]));
}

#[test]
fn values_are_multiples_that_are_never_zero() {
    let hostile = [5e-324, 1e-300, 1e-9, 0.1, 1.0, 3.0, 9_007_199_254_740_992.0];
    for &weighting in TermWeighting::ALL {
        let name = weighting.name();
        for counts in [&hostile[..], &hostile[..1], &hostile[..2], &hostile[6..]] {
            let values = formed(name, counts, &[]).0;
            let whole = |value: &f64| *value > 0.0 && (value * STEPS).fract() == 0.0;
            assert!(weighting.is_counts() || values.iter().all(whole), "{name} {values:?}");
        }
    }
}

#[test]
fn values_do_not_depend_on_the_order_of_words() {
    let counts: Vec<f64> = (1..400).map(|i| f64::from(i * i % 37 + 1) / 10.0).collect();
    for &weighting in TermWeighting::ALL {
        let name = weighting.name();
        let forwards = formed(name, &counts, &[]).0;
        let reversed: Vec<f64> = counts.iter().rev().copied().collect();
        let mut backwards = formed(name, &reversed, &[]).0;
        backwards.reverse();
        assert_eq!(forwards, backwards, "{name}");
    }
}

fn documents_of(slice: &Slice, word: WordId) -> Vec<(ClassId, f64, f64)> {
    let mut cells: Vec<_> =
        slice.cells(word).map(|cell| (cell.class, cell.tokens, cell.documents)).collect();
    cells.sort_by_key(|&(class, ..)| class);
    cells
}

#[test]
fn adds_and_removes_documents() {
    let mut slice = Slice::new(true);
    slice.add(1, &[(7, 2.0), (9, 1.0)], 1.0);
    slice.add(0, &[(7, 1.0)], 2.0);
    assert_eq!(documents_of(&slice, 7), [(0, 2.0, 2.0), (1, 2.0, 1.0)]);
    assert_eq!((slice.documents(), slice.classes[1].tokens), (3.0, 3.0));
    slice.remove(1, &[(7, 2.0), (9, 1.0)], 1.0);
    assert_eq!((documents_of(&slice, 7), documents_of(&slice, 9)), (vec![(0, 2.0, 2.0)], vec![]));
    assert!(!slice.classes[1].exists());
    assert_eq!(slice.classes[1].frequencies().count(), 0);
    // The row of word 9 is reused.
    let size = |slice: &Slice| slice.size() - slice.classes[1].size();
    let before = size(&slice);
    slice.add(1, &[(3, 1.0)], 1.0);
    assert_eq!((size(&slice), slice.words().count()), (before, 2));
    slice.forget_class(0);
    assert_eq!((slice.words().count(), slice.documents()), (1, 1.0));
}

/// Smaller arrays are copied.
const SMALL_ARRAY: usize = 1 << 16;

#[test]
fn a_large_array_stays_where_it_is() {
    let mut array: Vec<u64> = Vec::new();
    make_room(&mut array, 3);
    assert!((3..100).contains(&array.capacity()));
    array.resize(SMALL_ARRAY / 8, 1);
    make_room(&mut array, 2 * SMALL_ARRAY / 8);
    let place = array.as_ptr();
    for number in 0..1_000_000 {
        let elements = array.len() + 1;
        make_room(&mut array, elements);
        array.push(number);
    }
    assert_eq!((array.as_ptr(), array[SMALL_ARRAY / 8]), (place, 0));
}

#[test]
fn factors_fall_from_one_and_are_multiples() {
    let damping = Damping::new(0.1);
    assert_eq!((damping.damped(1.0, 0.0), Damping::new(0.0).is_none()), (1.0, true));
    for documents in [1.0, 2.5, 100.0, 4095.0, 4096.0, 1e9, 9e15] {
        let found = damping.damped(1.0, documents);
        assert!((found - (1.0_f64 + documents).powf(-0.1)).abs() < 2e-4, "{documents}");
        assert_eq!((found * 4096.0).fract(), 0.0);
        assert!((damping.damped(3.0, documents) - 3.0 * found).abs() < 1e-12);
    }
}

#[test]
fn arrays_that_are_no_trees_make_some() {
    for array in [&[][..], &[-1, 4, 4], &[2], &[2, -7, i64::MAX, 5]] {
        let tree = Tree::from_array(array, true);
        let again = Tree::from_array(&tree.to_array(i64::from), true);
        assert_eq!(again.to_array(i64::from), tree.to_array(i64::from));
    }
}
